import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { startOwnCluster } from '../support/own-cluster.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'
import {
  applyManifests,
  type Backup,
  backUp,
  deleteAll,
  everything,
  expectAtRest,
  idIn,
  listRestored,
  oneOfEach,
  opens,
  settled,
  takeBack,
  told,
  wipe,
} from './lives.ts'

const INSTALLATION = ['--installation', 'shop']

let cluster: ControlPlane
beforeAll(async () => {
  cluster = await startOwnCluster()
})
afterAll(() => cluster.stop())

/** Removed by hand, with finalizers and Secrets, and applied again in the same cluster. */
async function removedByHand(world: World, backup: Backup): Promise<World> {
  await wipe(world, backup)
  return world
}

/** The cluster was lost, and nothing of it was kept but the installation id. */
async function rebuilt(world: World): Promise<World> {
  await world.operator.kill()
  return World.open({ kubeconfig: cluster.kubeconfigPath, beside: world, operator: false, flags: INSTALLATION })
}

test.each([
  ['removed by hand and applied again', removedByHand],
  ['applied to a rebuilt cluster with the same installation id', rebuilt],
])(
  '%s, every kind recovers its object, by itself or with the remedy it reports, and has a working token',
  {
    timeout: 300_000,
    tags: 'nightly',
  },
  async (title, start) => {
    await using world = await World.open({ flags: INSTALLATION })
    const before = await oneOfEach(world)
    const backup = await backUp(world)
    const next = await start(world, backup)
    await using _next = next === world ? undefined : next
    await applyManifests(next, backup)
    await next.startOperator()

    // What carries the marker it takes; where the Secret is gone a token is issued, and the former one is revoked.
    for (const subject of before.filter(({ marked }) => marked)) {
      expect(await told(next, subject, 'Recovered')).toContain(subject.id)
      const { status } = await next.ready(subject.kind, subject.name, 60_000)
      if (!subject.token) {
        expect(status?.id).toBe(subject.id)
        continue
      }
      await told(next, subject, 'Reissued')
      const gone = async () => (await next.api.get(`/${subject.path}/${subject.id}`)).status === 404
      await until(`${subject.kind}/${subject.name} has released its former object`, gone)
    }
    // Of what carries none it tells, and makes another unless the API refuses to.
    const unmarked = before.filter(({ marked }) => !marked)
    const refused: string[] = []
    for (const subject of unmarked) {
      expect(await told(next, subject, 'PossibleDuplicate')).toContain(`spec.externalID: ${subject.id}`)
      if ((await settled(next, subject)) === 'refused') refused.push(subject.kind)
    }
    expect(new Set(refused)).toEqual(new Set(['AgentIngress', 'Edge', 'IPPolicyRule', 'ReservedDomain']))

    // The advice: what was made in vain goes with its resource, which then takes the former object. A lost token is
    // permanently gone.
    await deleteAll(next, unmarked)
    for (const subject of unmarked) {
      if (!subject.token) await takeBack(next, subject, subject.id)
      else {
        await next.apply(subject.kind, subject.name, subject.spec)
        await next.ready(subject.kind, subject.name, 60_000)
        await next.api.delete(`/${subject.path}/${subject.id}`)
      }
    }
    const now = await everything(next)
    for (const subject of now) {
      const about = `${subject.kind}/${subject.name}`
      if (subject.token) expect(await opens(next, subject, subject.id), about).toBe(true)
      else expect(subject.id, about).toBe(idIn(before, subject))
    }
    await expectAtRest(next, now)
    await listRestored(title, now)
  },
)
