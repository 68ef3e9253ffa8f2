import { registerHooks } from 'node:module'
import { parseAst } from 'rolldown/parseAst'

/**
 * `npm run walk`: the files of `src` that one edit of an Edge's `ipRestriction` passes, from its watch event to the
 * answer to the status patch. A simulated world runs the real operator, and each function records that it is called.
 *
 * A step is a file with those of its functions that run there for the first time: anyone who follows the walk reads each
 * of them once. Functions that call no other file are left out, because their names say enough, and so is `src/util`. A
 * callback belongs to the function that it is written in. A step in a file of an earlier step is a return.
 */

const SOURCES = new URL('../src/', import.meta.url).href
const LEFT_OUT = /^(util|emulator)\//
const HOOK = 'culvertEntered'

/** A function that is not inside another, by the lines of its file. */
interface NamedFunction {
  readonly name: string
  readonly file: string
  readonly first: number
  readonly last: number
}

interface Call {
  readonly from: NamedFunction | undefined
  readonly to: NamedFunction
}

interface Step {
  readonly file: string
  readonly names: string[]
  readonly isReturn: boolean
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number; readonly end: number }

const functions = new Map<string, readonly NamedFunction[]>()
/** Calls, and between them the requests and answers. */
const events: (Call | string)[] = []
let isRecording = false

/** The source with a call of the hook at the beginning of every function; no line moves. */
function instrumented(file: string, source: string): string {
  const found: NamedFunction[] = []
  const pieces: (readonly [at: number, text: string])[] = []
  const lineOf = (at: number): number => source.slice(0, at).split('\n').length
  const visit = (value: unknown, name: string, isInside: boolean): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (const each of value) visit(each, name, isInside)
      return
    }
    const node = value as Node
    const own = isInside ? name : (nameOf(node.id ?? node.key) ?? name)
    const body = /Function/.test(String(node.type)) ? (node.body as Node | null | undefined) : undefined
    if (body != null && !isInside) found.push({ name: own, file, first: lineOf(node.start), last: lineOf(node.end) })
    if (body?.type === 'BlockStatement') pieces.push([body.start + 1, `globalThis.${HOOK}();`])
    else if (body != null) pieces.push([body.start, `(globalThis.${HOOK}(), `], [body.end, ')'])
    for (const child of Object.values(node)) visit(child, own, isInside || body != null)
  }
  visit(parseAst(source, { lang: 'ts' }).body, 'module', false)
  functions.set(file, found)
  return pieces
    .toSorted(([one], [other]) => other - one)
    .reduce((text, [at, piece]) => text.slice(0, at) + piece + text.slice(at), source)
}

function nameOf(node: unknown): string | undefined {
  return (node as { readonly name?: string } | null | undefined)?.name
}

function functionAt(frame: NodeJS.CallSite): NamedFunction | undefined {
  const line = frame.getLineNumber() ?? 0
  const file = frame.getFileName()?.slice(SOURCES.length) ?? ''
  return functions.get(file)?.find(({ first, last }) => first <= line && line <= last)
}

function entered(): void {
  if (!isRecording) return
  const { prepareStackTrace } = Error
  Error.prepareStackTrace = (_error, frames) => frames
  const [, own, ...callers] = new Error('where').stack as unknown as readonly NodeJS.CallSite[]
  Error.prepareStackTrace = prepareStackTrace
  const to = own && functionAt(own)
  // Frames of Node, such as that of `Array.map`, stand between a function and its callback.
  const caller = callers.find((frame) => frame.getFileName()?.startsWith('file:'))
  if (to !== undefined) events.push({ from: caller && functionAt(caller), to })
}

/** Lets the edit happen in a world at rest. */
async function record(): Promise<void> {
  const { Laboratory } = await import('../test/faults/simulation/world.ts')
  const { DECIDED } = await import('../src/emulator/choices/choices.ts')
  const world = (await Laboratory.open()).world({ choices: DECIDED, kinds: new Set(['Edge', 'IPPolicy']) })
  const restrictTo = (...names: readonly string[]): void => {
    world.apply('Edge', 'shop', { protocol: 'TLS', ipRestriction: { ipPolicyRefs: names.map((name) => ({ name })) } })
  }
  world.apply('IPPolicy', 'home', { rules: [{ action: 'Allow', cidr: '192.0.2.0/24' }] })
  world.apply('IPPolicy', 'office', { rules: [{ action: 'Allow', cidr: '198.51.100.0/24' }] })
  restrictTo('home')
  await world.advance(60_000)
  let isOver = false
  world.trouble = { request: ({ server, method, path }) => void events.push(`${method} ${path} (${server})`) }
  world.network.onHeard = ({ server, method, path }) => {
    events.push(`answer to ${method} (${server})`)
    isOver ||= method === 'PATCH' && path.endsWith('/edges/shop/status')
    isRecording &&= !isOver
  }
  restrictTo('home', 'office')
  isRecording = true
  if (!(await world.until(() => isOver, 60_000))) throw new Error('the edit led to no status patch')
  world.end()
}

/** Prints the walk, and its totals. */
function print(): void {
  const calls = events.filter((event) => typeof event !== 'string')
  const beyond = new Set(calls.flatMap(({ from, to }) => (from === undefined || from.file === to.file ? [] : [from])))
  const passed = new Set<NamedFunction>()
  const files = new Set<string>()
  const steps: (Step | string)[] = []
  let last: Step | undefined
  for (const event of events) {
    if (typeof event === 'string') steps.push(event)
    else if (beyond.has(event.to) && !passed.has(event.to)) {
      const { file, name } = event.to
      if (last?.file === file) last.names.push(name)
      else {
        last = { file, names: [name], isReturn: files.has(file) }
        steps.push(last)
      }
      passed.add(event.to)
      files.add(file)
    }
  }
  for (const step of steps) {
    if (typeof step === 'string') console.log(`\n${step}\n`)
    else console.log(`${step.isReturn ? '  back to' : '-'} ${step.file}: ${step.names.join(', ')}`)
  }
  const returns = steps.filter((step) => typeof step === 'object').filter(({ isReturn }) => isReturn)
  const most = [...Map.groupBy(returns, ({ file }) => file)].toSorted(([, one], [, other]) => other.length - one.length)
  console.log(`\nfiles passed: ${files.size}`)
  console.log(`returns to a file already left: ${returns.length}`)
  const largest = most.slice(0, 6).map(([file, all]) => `${all.length} ${file}`)
  console.log(`most of them: ${largest.join(', ')}`)
  console.log(`files in which any code ran: ${new Set(calls.map(({ to }) => to.file)).size}`)
}

Object.assign(globalThis, { [HOOK]: entered })
registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context)
    const file = url.startsWith(SOURCES) ? url.slice(SOURCES.length) : ''
    if (!file.endsWith('.ts') || LEFT_OUT.test(file) || loaded.source == null) return loaded
    return { ...loaded, source: instrumented(file, Buffer.from(loaded.source as Uint8Array).toString()) }
  },
})
await record()
print()
