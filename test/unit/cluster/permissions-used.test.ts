import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { judge, usesIn } from '../../cluster/support/permissions-used.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'culvert-audit-'))
})
afterEach(() => rm(folder, { recursive: true }))

const operator = 'system:serviceaccount:home:culvert'

function line(change: Record<string, unknown> = {}): string {
  return JSON.stringify({
    stage: 'ResponseComplete',
    verb: 'get',
    user: { username: operator },
    userAgent: 'culvert',
    objectRef: { resource: 'secrets', namespace: 'shop', name: 'key' },
    responseStatus: { code: 200 },
    annotations: { 'authorization.k8s.io/decision': 'allow' },
    ...change,
  })
}

const forbidden = { annotations: { 'authorization.k8s.io/decision': 'forbid' } }

async function judged(...lines: readonly string[]) {
  await writeFile(join(folder, 'own-1audit.log'), lines.join('\n'))
  const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'patch'] as const }]
  const { uses } = await usesIn(folder)
  return judge(uses, { own: rules, watched: rules })
}

test('what an operator was refused is named, each kind of request once', async () => {
  const { refused } = await judged(
    line(forbidden),
    line({ ...forbidden, objectRef: { resource: 'secrets', namespace: 'b' } }),
  )
  expect(refused).toEqual(['get secrets (first shop/key)'])
})

test('what an admission refuses is no lack of permission', async () => {
  expect((await judged(line({ responseStatus: { code: 403 } }))).refused).toEqual([])
})

test('what an admission policy refuses is named with its reason', async () => {
  const annotations = {
    'authorization.k8s.io/decision': 'allow',
    'validation.policy.admission.k8s.io/validation_failure': 'only Opaque',
  }
  const { refused } = await judged(line(), line({ annotations, responseStatus: { code: 403 } }))
  expect(refused).toEqual(['get secrets, for only Opaque (first shop/key)'])
})

test('what nobody used is named, its own namespace apart; an apply that made an object has created it', async () => {
  const objectRef = { resource: 'secrets', namespace: 'home', name: 'kept' }
  const { unused } = await judged(line(), line({ verb: 'patch', objectRef, responseStatus: { code: 201 } }))
  expect(unused).toEqual(["get secrets in the operator's own namespace", 'create secrets', 'patch secrets'])
})

test.each([
  ['an arrival', { stage: 'RequestReceived' }],
  ['another account', { user: { username: 'system:serviceaccount:home:apart-1' } }],
  ['a test that looks with the rights of an operator', { userAgent: 'culvert-test' }],
  ['an administrator', { user: { username: 'admin' } }],
])('%s says nothing', async (_what, change) => {
  const { refused, unused } = await judged(line(change), line({ ...change, ...forbidden }))
  expect(refused).toEqual([])
  expect(unused).toHaveLength(6)
})

test('a line that was cut off is left out', async () => {
  expect((await judged(line(), line(forbidden).slice(0, -5))).refused).toEqual([])
})
