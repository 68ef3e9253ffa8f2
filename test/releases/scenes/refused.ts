import { applyAll, applyNeeds, casesTitled, collectionPaths, subjectsOf } from '../../cluster/support/cases.ts'
import { secrets } from '../../cluster/support/tokens.ts'
import type { World } from '../../cluster/support/world.ts'
import { type Scene, type Subject, saying, says } from '../scene.ts'

const cases = casesTitled('minimal')
const SUFFIX = 'refused'
const tunnels = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }

/** Refusals and failures of the API or Kubernetes. */
export const refused: Scene = {
  name: 'refused',
  about: 'One of each kind that the API refused permanently, and others that the API or Kubernetes failed.',
  proxied: true,
  async play({ world, forbid }) {
    await applyNeeds(world, cases, [SUFFIX])
    await world.apply('Backend', 'edited', tunnels)
    await world.ready('Backend', 'edited')
    const altered = await alteredTokens(world)
    const { admin } = world.emulator
    for (const path of collectionPaths(cases)) {
      admin.addFault({ match: { method: 'POST', path, every: true }, act: { type: 'status', status: 400 } })
    }
    admin.addFault({ match: { method: 'PATCH', every: true }, act: { type: 'status', status: 503 } })
    const subjects = subjectsOf(cases, SUFFIX)
    await applyAll(world, subjects)
    const told = await Promise.all(
      subjects.map(({ kind, name }) => saying(world, kind, name, 'Rejected', 'Failed', 'Current')),
    )
    await world.apply('Backend', 'edited', { ...tunnels, description: 'edited' })
    forbid('POST', /\/secrets$/)
    await world.apply('APIKey', 'no-secret', {})
    return [
      ...altered,
      ...told,
      await saying(world, 'Backend', 'edited', 'ApiError', 'InProgress', 'Current'),
      await saying(world, 'APIKey', 'no-secret', 'KubernetesError', 'InProgress', 'Current'),
    ]
  },
}

/** Tokens that are repeatedly removed from their Secrets, until new ones are no longer issued at once. */
async function alteredTokens(world: World): Promise<readonly Subject[]> {
  const told: Subject[] = []
  for (const kind of ['APIKey', 'TunnelCredential']) {
    const name = `${kind.toLowerCase()}-altered`
    await world.apply(kind, name, {})
    await world.ready(kind, name)
    const gaveUp = async (): Promise<boolean> => {
      const former = (await world.get(kind, name))?.status?.id
      const data = { token: Buffer.from('altered').toString('base64') }
      await world.kube.mergePatch(secrets, { namespace: world.namespace, name }, { data })
      const { status } = await world.until(kind, name, 'has another token or gives up', (cr) => {
        const over = cr.status?.conditions?.some(({ reason }) => reason === 'TokenAltered') ?? false
        return over || (cr.status?.id !== former && cr.status?.internal?.superseded === undefined)
      })
      return status?.conditions?.some(({ reason }) => reason === 'TokenAltered') ?? false
    }
    for (let times = 0; times < 10; times++) if (await gaveUp()) break
    await says(world, kind, name, 'TokenAltered')
    told.push({ kind, name, state: 'TokenAltered', phase: 'InProgress', after: 'Current' })
  }
  return told
}
