import { expect, test } from 'vitest'
import { secretType } from '../../../src/kube/core-types.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { OPERATOR_NAMESPACE } from '../simulation/operator.ts'
import { Oracle } from '../simulation/oracle.ts'
import { Laboratory, NAMESPACE, type SimulatedWorld } from '../simulation/world.ts'

const GONE = { namespace: NAMESPACE, name: 'gone' }

test.each([0, 2])(
  'kept keys of Accounts deleted while no operator ran are removed, and no others: %i replicas',
  async (replicas) => {
    const laboratory = await Laboratory.open()
    const world = laboratory.world({ kinds: new Set(['Backend']), replicas })
    try {
      const oracle = await Oracle.watch(world)
      const type = world.kinds.accountType('Account')
      world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {} })
      world.server.create(type, GONE, {
        spec: { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'key' } },
      })
      const users = { namespace: OPERATOR_NAMESPACE, name: 'culvert-key-of-mine' }
      world.server.create(secretType, users, { data: {}, type: 'Opaque' })
      expect(await oracle.untilRest()).toEqual([])
      await world.until(() => kept(world).length === 3, 60_000)
      const before = kept(world)
      world.down()
      const left = `culvert-key-${world.kube.get<KubeObject>(type, GONE)?.metadata.uid}`
      world.kube.mergePatch(type, GONE, { metadata: { finalizers: null } })
      world.kube.delete(type, GONE)
      world.trouble = failingOnce(`/secrets/${left}`)
      world.up()
      world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {}, description: 'edited' })
      await world.advance(180_000)
      expect(before).toContain(left)
      expect(kept(world)).toEqual(before.filter((name) => name !== left))
      expect(await oracle.judge()).toEqual([])
    } finally {
      world.down()
    }
  },
)

function kept({ kube }: SimulatedWorld): readonly string[] {
  const { items } = kube.list(secretType)
  return items
    .filter(({ metadata }) => metadata.namespace === OPERATOR_NAMESPACE && metadata.name.startsWith('culvert-key-'))
    .map(({ metadata }) => metadata.name)
}

/** Kubernetes fails the first request for this. */
function failingOnce(path: string): SimulatedWorld['network']['trouble'] {
  let failed = false
  return {
    request: (sighting) => {
      if (failed || !sighting.path.endsWith(path)) return undefined
      failed = true
      return { type: 'answer', when: 'before', answer: { status: 500, headers: {}, body: '{}' } }
    },
  }
}
