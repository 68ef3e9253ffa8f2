import { expect, test } from 'vitest'
import type { Fault, WireAnswer } from '../../faults/simulation/faults.ts'
import { type Caller, Network } from '../../faults/simulation/network.ts'
import { SimulatedProcess } from '../../faults/simulation/process.ts'
import { VirtualTime } from '../../faults/simulation/virtual-time.ts'

/** Records what a caller receives, with the time. */
class Listener implements Caller {
  readonly heard: string[] = []
  readonly #time: VirtualTime
  hasGone = false

  constructor(time: VirtualTime) {
    this.#time = time
  }

  answered({ status, body }: WireAnswer, isCut: boolean): void {
    this.#note(`${status} ${body}${isCut ? ' cut' : ''}`)
  }

  began(): void {
    this.#note('began')
  }

  line(text: string): void {
    this.#note(text)
  }

  part(text: string): void {
    this.#note(`part ${text}`)
  }

  ended(): void {
    this.#note('ended')
  }

  failed(error: Error): void {
    this.#note((error as { code?: string }).code ?? error.message)
  }

  #note(text: string): void {
    this.heard.push(`${text} at ${this.#time.now}`)
  }
}

/** Sends one request, which meets the fault; then another without a fault, if the process can. */
async function sendInto(fault: Fault | undefined, during = 100) {
  const time = new VirtualTime()
  const process = new SimulatedProcess('operator', time, 0)
  const worked: number[] = []
  const server = {
    answer: (): WireAnswer => {
      worked.push(time.now)
      return { status: 200, body: `answer ${worked.length}` }
    },
  }
  const network = new Network(time, { kubernetes: server, api: server })
  network.trouble = { request: () => fault }
  const caller = new Listener(time)
  network.send(process, 'api', { method: 'POST', path: '/edges?a=b', headers: {}, body: '{}' }, caller)
  await time.advance(during)
  return { worked, heard: caller.heard, process }
}

test.each<[name: string, fault: Fault | undefined, worked: readonly number[], heard: readonly string[]]>([
  ['nothing', undefined, [2], ['200 answer 1 at 4']],
  ['kill before', { type: 'kill', when: 'before' }, [], []],
  ['kill after', { type: 'kill', when: 'after' }, [2], []],
  ['kill answered', { type: 'kill', when: 'answered' }, [2], ['200 answer 1 at 4']],
  ['stop before', { type: 'stop', when: 'before', ms: 50 }, [52], ['200 answer 1 at 54']],
  ['stop after', { type: 'stop', when: 'after', ms: 50 }, [2], ['200 answer 1 at 52']],
  ['reset before', { type: 'reset', when: 'before' }, [], ['ECONNRESET at 4']],
  ['reset after', { type: 'reset', when: 'after' }, [2], ['ECONNRESET at 4']],
  ['silence before', { type: 'silence', when: 'before' }, [], []],
  ['silence after', { type: 'silence', when: 'after' }, [2], []],
  ['slow before', { type: 'slow', when: 'before', ms: 20 }, [22], ['200 answer 1 at 24']],
  ['slow after', { type: 'slow', when: 'after', ms: 20 }, [2], ['200 answer 1 at 24']],
  ['late', { type: 'late', ms: 30 }, [32], ['ECONNRESET at 4']],
  ['answer before', { type: 'answer', when: 'before', answer: { status: 429, body: 'no' } }, [], ['429 no at 4']],
  ['answer after', { type: 'answer', when: 'after', answer: { status: 502, body: 'no' } }, [2], ['502 no at 4']],
  ['twice, first', { type: 'twice' }, [2, 2], ['200 answer 1 at 4']],
  ['twice, last', { type: 'twice', gives: 'last' }, [2, 2], ['200 answer 2 at 4']],
  ['cut', { type: 'cut' }, [2], ['200 answer 1 cut at 4']],
])('a request that this befalls is worked on and answered as told: %s', async (_name, fault, worked, heard) => {
  const outcome = await sendInto(fault)
  expect([outcome.worked, outcome.heard]).toEqual([worked, heard])
  expect(outcome.process.isDead).toBe(fault?.type === 'kill')
})

test('a process that stands still sends nothing, and one that was killed hears nothing', async () => {
  const { process } = await sendInto(undefined)
  const time = new VirtualTime()
  const network = new Network(time, { kubernetes: { answer: unexpected }, api: { answer: unexpected } })
  process.kill()
  const caller = new Listener(time)
  network.send(process, 'api', { method: 'GET', path: '/', headers: {}, body: '' }, caller)
  await time.advance(10)
  expect(caller.heard).toEqual([])
})

function unexpected(): never {
  throw new Error('a dead process has asked')
}

type Frames = Parameters<NonNullable<Network['trouble']['frame']>>[1]

/** Watches a stream of `one` and `two`, of which the first meets the fault. */
async function watchInto(fault: ReturnType<NonNullable<Network['trouble']['frame']>>) {
  const time = new VirtualTime()
  let stopped = 0
  let tell: (text: string) => void = () => undefined
  const follow = (line: (text: string) => void) => {
    tell = line
    return () => {
      stopped += 1
    }
  }
  const server = { answer: () => ({ follow }) }
  const network = new Network(time, { kubernetes: server, api: server })
  network.trouble = {
    request: () => undefined,
    frame: (_watch, frame: Frames) => (frame === '"one"' ? fault : undefined),
  }
  const caller = new Listener(time)
  const process = new SimulatedProcess('operator', time, 0)
  network.send(process, 'kubernetes', { method: 'GET', path: '/x?watch=1', headers: {}, body: '' }, caller)
  await time.advance(10)
  tell('"one"')
  tell('"two"')
  await time.advance(40)
  return { heard: caller.heard.slice(1).map((text) => text.replace(/ at \d+$/, '')), isStopped: stopped > 0 }
}

test.each<[name: string, fault: Parameters<typeof watchInto>[0], heard: readonly unknown[], isStopped: boolean]>([
  ['nothing', undefined, ['"one"', '"two"'], false],
  ['hide', 'hide', ['"two"'], false],
  ['twice', 'twice', ['"one"', '"one"', '"two"'], false],
  ['stall', 'stall', [], true],
  ['reset', 'reset', ['ECONNRESET'], true],
  ['torn', 'torn', ['part "o', 'ECONNRESET'], true],
  ['gone', 'gone', [expect.stringContaining('"code":410'), 'ended'], true],
  ['instead', { type: 'instead', lines: ['"three"'] }, ['"three"', '"two"'], false],
  ['error', { type: 'error', status: { code: 500 } }, [expect.stringContaining('"code":500'), 'ended'], true],
  ['end', { type: 'end', ms: 5 }, ['ended'], true],
])('a frame that this befalls arrives as described: %s', async (_name, fault, heard, isStopped) => {
  expect(await watchInto(fault)).toEqual({ heard, isStopped })
})
