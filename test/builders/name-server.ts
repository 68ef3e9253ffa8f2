import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode } from 'dns-packet'

/** A DNS server with the records of a test. */
export interface NameServer extends AsyncDisposable {
  /** `address:port` */
  readonly address: string
  /** The records that it answers with; names in lower case. Change it at any time. */
  readonly records: { readonly name: string; readonly type: 'CNAME' | 'NS'; readonly value: string }[]
}

const NO_SUCH_NAME = 3

/** Starts a DNS server on a free port of loopback, over UDP, without records. */
export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4')
  const records: NameServer['records'] = []
  socket.on('message', (query, { address, port }) => {
    const { id = 0, questions = [] } = decode(query)
    const [question] = questions
    const found = records.filter(({ name, type }) => name === question?.name.toLowerCase() && type === question.type)
    const answers = found.map(({ name, type, value }): Answer => ({ name, type, ttl: 0, data: value }))
    const flags = AUTHORITATIVE_ANSWER | (answers.length === 0 ? NO_SUCH_NAME : 0)
    socket.send(encode({ type: 'response', id, flags, questions, answers }), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    records,
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
}
