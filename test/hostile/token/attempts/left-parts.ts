import { GROUP, VERSION } from '../../../../src/managed/names.ts'
import { type Attempt, type Case, type Fields, type Scene, type Thing, thing } from '../support/attempt.ts'

/** An Edge that a deleted Service has left behind, unless its metadata say otherwise. */
export function leftEdge({ tenant }: Scene, metadata: Fields = {}, name = 'left-80'): Thing {
  return thing(`/apis/${GROUP}/${VERSION}`, 'edges', name, tenant, {
    kind: 'Edge',
    metadata: {
      labels: { 'app.kubernetes.io/managed-by': 'culvert', 'culvert.dev/service': 'left' },
      annotations: { 'internal.culvert.dev/output-of': 'Service/left' },
      ...metadata,
    },
    spec: {
      protocol: 'TCP',
      hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: 'left-80' } }],
      backend: { enabled: false, name: 'left-80' },
    },
  })
}

/** The next Service of that name as its owner. */
function takingBack(owner: Fields = {}, more: Fields = {}): Fields {
  const reference = {
    apiVersion: 'v1',
    kind: 'Service',
    name: 'left',
    uid: crypto.randomUUID(),
    controller: true,
    ...owner,
  }
  return { metadata: { ownerReferences: [reference] }, ...more }
}

/** Parts that no Service has left, and writes that do more than take one back. */
const ATTEMPTS: readonly (readonly [what: string, given: (scene: Scene) => Fields, body: () => Fields])[] = [
  ['an Edge that nobody has noted as a part', () => ({ annotations: {} }), takingBack],
  [
    'an Edge without the label of the Service',
    () => ({ labels: { 'app.kubernetes.io/managed-by': 'culvert' } }),
    takingBack,
  ],
  ['an Edge without the label of Culvert', () => ({ labels: { 'culvert.dev/service': 'left' } }), takingBack],
  [
    'an Edge that another object owns',
    ({ uids }) => ({
      ownerReferences: [{ apiVersion: `${GROUP}/${VERSION}`, kind: 'IPPolicy', name: 'ippolicy', uid: uids.IPPolicy }],
    }),
    takingBack,
  ],
  ['a part for a Service of another name', () => ({}), () => takingBack({ name: 'other' })],
  ['a part for a ConfigMap', () => ({}), () => takingBack({ kind: 'ConfigMap' })],
  ['a part for a Tunnel', () => ({}), () => takingBack({ apiVersion: `${GROUP}/${VERSION}`, kind: 'Tunnel' })],
  ['a part, so that the owner cannot be deleted before it', () => ({}), () => takingBack({ blockOwnerDeletion: true })],
  [
    'a part, and open it',
    () => ({}),
    () => takingBack({}, { spec: { ipRestriction: null, backend: { enabled: true } } }),
  ],
  [
    'a part, noting another owner',
    () => ({}),
    () => {
      const { metadata } = takingBack() as { readonly metadata: Fields }
      return { metadata: { ...metadata, annotations: { 'internal.culvert.dev/output-of': 'Service/other' } } }
    },
  ],
]

export const leftPartCases: readonly Case[] = ATTEMPTS.map(([what, given, body], index) => ({
  title: `take ${what}`,
  token: 'cluster-admin',
  says: 'edges.',
  given: (scene) => [leftEdge(scene, given(scene), `left-${81 + index}`)],
  attempt: (scene) => ({ verb: 'merge', on: leftEdge(scene, given(scene), `left-${81 + index}`), body: body() }),
}))

/** What the operator does with a part that is left, if it serves Services. */
export const permittedTakingBack = (scene: Scene): Attempt => {
  return { verb: 'merge', on: leftEdge(scene), body: takingBack() }
}
