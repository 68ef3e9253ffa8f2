import { expect, test } from 'vitest'
import { tunnelSession } from '../../../../src/kinds/tunnel-session.ts'
import type { KubeClient, KubeObject } from '../../../../src/kube/types.ts'
import { resourceTypeOf } from '../../../../src/managed/kinds-registry.ts'
import { MirrorWriter } from '../../../../src/managed/sessions/mirror-writer.ts'
import { createSilentLogger } from '../../../builders/silent-logger.ts'

const type = resourceTypeOf(tunnelSession)

test('of thousands of writes, over several accounts, only a few are under way at a time', async () => {
  let inFlight = 0
  let most = 0
  let writes = 0
  const slow = async <T>(name: string): Promise<T> => {
    writes++
    most = Math.max(most, ++inFlight)
    await Promise.resolve()
    inFlight--
    return {
      apiVersion: '',
      kind: type.kind,
      metadata: { name, uid: name, resourceVersion: '1' },
    } satisfies KubeObject as T
  }
  const kube: Pick<KubeClient, 'create' | 'mergePatch' | 'delete'> = {
    create: (_, { name }) => slow(name),
    mergePatch: (_, { name }) => slow(name),
    delete: (_, { name }) => slow(name),
  }
  const writer = new MirrorWriter({ kube, record: () => undefined, logger: createSilentLogger() })
  const create = Array.from({ length: 1000 }, (_, index) => ({
    namespace: 'shop',
    name: `ts-${index}`,
    metadata: {},
    status: {},
  }))
  const plan = { create, update: [], remove: [] }
  const never = new AbortController().signal
  await Promise.all([writer.write(type, plan, never), writer.write(type, plan, never)])
  expect(writes).toBe(4000)
  expect(most).toBeLessThanOrEqual(6)
})
