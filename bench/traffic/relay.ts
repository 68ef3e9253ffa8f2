import { connect, createServer } from 'node:net'

/* One hop of the floor: carries each connection to the port that it is given, and does nothing else. */

const target = Number(process.argv[2])
const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
  const next = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  socket.on('error', () => next.destroy()).once('close', () => next.destroySoon())
  next.on('error', () => socket.destroy()).once('close', () => socket.destroySoon())
  socket.pipe(next)
  next.pipe(socket)
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
process.once('disconnect', () => process.exit())
