import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet, type Question } from 'dns-packet'

/** Codes of RFC 1035 § 4.1.1, in the lowest bits of the flags. */
const CODES = { noError: 0, formatError: 1, nameError: 3, notImplemented: 4 } as const
const OPCODES = 0x7800
/** An edge may move to another address at any moment. Seconds. */
const TTL = 0

/** Answers queries for the names of edges with the addresses where they listen, over UDP. */
export class NameServer {
  readonly #socket: Socket = createSocket('udp4')

  /** @param addressOf where a host, in lower case, can be reached; undefined: there is no such host */
  constructor(addressOf: (host: string) => string | undefined) {
    this.#socket.on('message', (query, { address, port }) => {
      const answer = answerTo(query, addressOf)
      if (answer !== undefined) this.#socket.send(answer, port, address)
    })
  }

  /** Resolves once it listens; rejects when it cannot. */
  async listen({
    host,
    port,
  }: {
    readonly host: string
    readonly port: number
  }): Promise<{ host: string; port: number }> {
    this.#socket.bind(port, host)
    await once(this.#socket, 'listening')
    // No one waits for an answer that cannot be sent.
    this.#socket.on('error', () => undefined)
    return { host, port: this.#socket.address().port }
  }

  async close(): Promise<void> {
    this.#socket.close()
    await once(this.#socket, 'close')
  }
}

/** The answer to a query; undefined if it is none. Pure. */
export function answerTo(query: Buffer, addressOf: (host: string) => string | undefined): Buffer | undefined {
  const packet = read(query)
  if (packet?.type !== 'query') return undefined
  const { id = 0, flags = 0, questions = [] } = packet
  const [question] = questions
  const reply = (code: keyof typeof CODES, answers: Answer[] = []): Buffer =>
    encode({ type: 'response', id, flags: AUTHORITATIVE_ANSWER | CODES[code], questions, answers })
  if ((flags & OPCODES) !== 0) return reply('notImplemented')
  if (question === undefined || questions.length > 1) return reply('formatError')
  const address = addressOf(question.name.toLowerCase())
  if (address === undefined) return reply('nameError')
  return reply('noError', recordsOf(question, address))
}

function recordsOf({ name, type }: Question, address: string): Answer[] {
  const own = isIPv6(address) ? 'AAAA' : 'A'
  return type === own ? [{ type: own, name, ttl: TTL, data: address }] : []
}

function read(query: Buffer): Packet | undefined {
  try {
    return decode(query)
  } catch {
    // A datagram that is no query gets no answer.
    return undefined
  }
}
