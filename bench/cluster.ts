import { type ControlPlane, startControlPlane } from '../controlplane/control-plane.ts'
import type { Emulator } from '../src/emulator/emulator.ts'
import { kinds } from '../src/kinds/index.ts'
import { type ClosableKubeClient, createKubeClient } from '../src/kube/client.ts'
import { loadKubeConnection } from '../src/kube/load-config.ts'
import type { ResourceType } from '../src/kube/types.ts'
import { resourceTypeOf } from '../src/managed/kinds-registry.ts'
import { systemClock } from '../src/util/clock.ts'
import { systemRandom } from '../src/util/random.ts'
import { installCRDs } from '../test/builders/install-crds.ts'

/** Manifests that are applied at a time. */
const APPLIED_AT_ONCE = 16

/** A custom resource to be applied. */
export interface Manifest {
  readonly kind: string
  readonly name: string
  readonly spec: Readonly<Record<string, unknown>>
}

/** A new control plane with the CRDs. */
export async function startCluster(): Promise<ControlPlane> {
  const controlPlane = await startControlPlane({ onProgress: console.error })
  await installCRDs(controlPlane)
  return controlPlane
}

/** A client of the control plane, for the bench itself. */
export function clientOf({ kubeconfigPath }: ControlPlane): ClosableKubeClient {
  return createKubeClient({
    connection: loadKubeConnection({ kubeconfig: kubeconfigPath }),
    clock: systemClock,
    random: systemRandom,
    userAgent: 'culvert-bench',
  })
}

/** A namespace with an Account for the emulator. */
export async function prepare(
  kube: ClosableKubeClient,
  emulator: Emulator,
  namespace: string,
  account: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await makeNamespace(kube, namespace)
  const data = { apiKey: Buffer.from(emulator.apiKey).toString('base64') }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'credentials', namespace }, data }
  await kube.apply(core('secrets', 'Secret', true), { namespace, name: 'credentials' }, secret)
  const spec = { baseURL: emulator.url, apiKeySecretRef: { name: 'credentials' }, ...account }
  await apply(kube, namespace, { kind: 'Account', name: 'default', spec })
}

/** Makes an empty namespace. */
export async function makeNamespace(kube: ClosableKubeClient, name: string): Promise<void> {
  const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  await kube.apply(core('namespaces', 'Namespace', false), { name }, manifest)
}

function core(plural: string, kind: string, namespaced: boolean): ResourceType {
  return { group: '', version: 'v1', plural, kind, namespaced }
}

/** Applies one manifest. */
export async function apply(
  kube: ClosableKubeClient,
  namespace: string,
  { kind, name, spec }: Manifest,
): Promise<void> {
  const object = { apiVersion: 'culvert.dev/v1alpha1', kind, metadata: { name, namespace }, spec }
  await kube.apply(typeOf(kind), { namespace, name }, object)
}

/** Applies many, some at a time. */
export async function applyAll(
  kube: ClosableKubeClient,
  namespace: string,
  manifests: readonly Manifest[],
): Promise<void> {
  await inParallel(manifests, APPLIED_AT_ONCE, (manifest) => apply(kube, namespace, manifest))
}

/** Calls `act` for each item, `atOnce` at a time, in order. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values()
  const work = async (): Promise<void> => {
    for (const item of left) await act(item)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

/** The seconds that `act` takes. */
export async function timed(act: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await act()
  return (performance.now() - start) / 1000
}

/** @throws Error for a kind that is none of Culvert's */
export function typeOf(kind: string): ResourceType {
  const descriptor = kinds.find(({ definition }) => definition.kind === kind)
  if (descriptor === undefined) throw new Error(`there is no kind ${kind}`)
  return resourceTypeOf(descriptor)
}
