import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { printable } from '../../util/printable.ts'
import { CommandError } from '../cluster/command-error.ts'
import { type Asset, readAssets } from './assets.ts'
import { Gate } from './gate.ts'

/** What the page shows; each view is made for it, and nothing else is sent. */
export interface Views {
  /** Calls `send` with what the page starts with, then with every change. Returns the function to end this. */
  follow(send: (event: string, view: unknown) => void): () => void
  /** A view by its path, such as `edge`; undefined if there is none. @throws CommandError to be shown */
  view(path: string, query: URLSearchParams): Promise<unknown>
}

/** A running server of the page. */
export interface PageServer extends AsyncDisposable {
  /** The link to print. It works once. */
  readonly link: string
}

/** Only the page's own scripts, styles and connections; nothing inline, no frames, no forms. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Neither a proxy nor the browser's cache on disk gets what a cluster contains.
  'cache-control': 'no-store',
}

/** A proxy in between must see something from time to time, in milliseconds. */
const HEARTBEAT_MS = 15_000
/** Bytes that a page may be late in reading before its connection is closed; it then starts again by itself. */
const BACKLOG = 32 * 1024 * 1024

/** Serves the page on a free port of the loopback address, until it is disposed of. */
export async function servePage(views: Views, secret: () => string, port = 0): Promise<PageServer> {
  const assets = await readAssets()
  const server = createServer()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const gate = new Gate((server.address() as AddressInfo).port, secret)
  server.on('request', (request, response) => void respond({ gate, assets, views }, request, response))
  return {
    link: gate.link,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

interface Site {
  readonly gate: Gate
  readonly assets: ReadonlyMap<string, Asset>
  readonly views: Views
}

async function respond(
  { gate, assets, views }: Site,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
  const admission = gate.admit(request)
  switch (admission.type) {
    case 'refused':
      return end(response, admission.status, 'text/plain; charset=utf-8', `${admission.text}\n`)
    case 'entered':
      response.writeHead(303, { location: admission.location, 'set-cookie': admission.cookie }).end()
      return
    case 'admitted': {
      const { pathname, searchParams } = admission.url
      const asset = assets.get(pathname)
      if (asset !== undefined) return end(response, 200, asset.type, asset.body)
      if (pathname === '/changes') return stream(views, response)
      return sendView(views, { path: pathname.slice(1), query: searchParams }, response)
    }
  }
}

async function sendView(
  views: Views,
  { path, query }: { readonly path: string; readonly query: URLSearchParams },
  response: ServerResponse,
): Promise<void> {
  const json = 'application/json; charset=utf-8'
  try {
    const view = await views.view(path, query)
    if (view === undefined) end(response, 404, json, viewText({ error: 'There is no such view.' }))
    else end(response, 200, json, viewText(view))
  } catch (error) {
    const { message, command } =
      error instanceof CommandError ? error : { message: 'culvert ui failed: a bug', command: undefined }
    end(response, error instanceof CommandError ? 422 : 500, json, viewText({ error: message, command }))
    if (!(error instanceof CommandError)) throw error
  }
}

/** Server-sent events. */
function stream(views: Views, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  const write = (text: string): void => {
    if (response.writableLength > BACKLOG) response.destroy()
    else response.write(text)
  }
  const stop = views.follow((event, view) => write(`event: ${event}\ndata: ${viewText(view)}\n\n`))
  const heartbeat = setInterval(() => write(': still here\n\n'), HEARTBEAT_MS)
  response.on('close', () => {
    clearInterval(heartbeat)
    stop()
  })
}

/** JSON on one line, with every text in printable characters alone: it may come from anyone. */
function viewText(view: unknown): string {
  return JSON.stringify(view, (_, value: unknown) => (typeof value === 'string' ? printable(value) : value))
}

function end(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': type }).end(body)
}
