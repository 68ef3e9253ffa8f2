import { expect, test } from 'vitest'
import { runProbe } from '../../../src/cli/probe.ts'
import { startFakeKubeServer } from '../../builders/fake-kube-server.ts'

test('an answer of 2xx is well, every other one is not, and both are told', async () => {
  await using server = await startFakeKubeServer(({ path }, response) => {
    response.writeHead(path === '/readyz' ? 200 : 503).end(path === '/readyz' ? 'ok\n' : 'failing: watches\n')
  })
  const lines: string[] = []
  expect(await runProbe(`${server.url}/readyz`, 5_000, (line) => lines.push(line))).toBe(0)
  expect(await runProbe(`${server.url}/other`, 5_000, (line) => lines.push(line))).toBe(1)
  expect(lines).toEqual([`${server.url}/readyz: 200 ok`, `${server.url}/other: 503 failing: watches`])
})

test('no answer is not well', async () => {
  const gone = await startFakeKubeServer()
  await gone[Symbol.asyncDispose]()
  const lines: string[] = []
  expect(await runProbe(gone.url, 5_000, (line) => lines.push(line))).toBe(1)
  expect(lines[0]).toContain('ECONNREFUSED')
})
