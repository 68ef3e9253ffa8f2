import { expect, test } from 'vitest'
import { runProbe } from '../../../src/cli/probe-command.ts'
import { startFakeKubeServer } from '../../builders/fake-kube-server.ts'

test('an answer of 2xx is well, every other one is not, and both are reported', async () => {
  await using server = await startFakeKubeServer(({ path }, response) => {
    response.writeHead(path === '/readyz' ? 200 : 503).end(path === '/readyz' ? 'ok\n' : 'failing: watches\n')
  })
  const lines: string[] = []
  expect(await runProbe(`${server.url}/readyz`, { timeoutMs: 5_000 }, (line) => lines.push(line))).toBe(0)
  expect(await runProbe(`${server.url}/other`, { timeoutMs: 5_000 }, (line) => lines.push(line))).toBe(1)
  expect(lines).toEqual([`${server.url}/readyz: 200 ok`, `${server.url}/other: 503 failing: watches`])
})

test('what must be closed is well when it answers so, and not when it is open', async () => {
  await using server = await startFakeKubeServer(({ path }, response) => {
    response.writeHead(path === '/metrics' ? 401 : 200).end('')
  })
  const closed = { timeoutMs: 5_000, status: 401 }
  expect(await runProbe(`${server.url}/metrics`, closed, () => undefined)).toBe(0)
  expect(await runProbe(`${server.url}/readyz`, closed, () => undefined)).toBe(1)
})

test('no answer is not well', async () => {
  const gone = await startFakeKubeServer()
  await gone[Symbol.asyncDispose]()
  const lines: string[] = []
  expect(await runProbe(gone.url, { timeoutMs: 5_000 }, (line) => lines.push(line))).toBe(1)
  expect(lines[0]).toContain('ECONNREFUSED')
})
