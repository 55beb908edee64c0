def odeint(): pass
