import {
  type Case,
  configMap,
  type Fields,
  mark,
  note,
  type Scene,
  SERVICE_ACCOUNT_TOKEN,
  secret,
} from '../support/attempt.ts'

const text = (value: string): string => Buffer.from(value).toString('base64')
const DATA = { data: { token: text('value') } }
const OPAQUE = { type: 'Opaque', ...DATA }

/** Types with a meaning to Kubernetes or others, with the fields that make them valid. */
const TYPES: readonly (readonly [type: string, fields: Fields, metadata?: Fields])[] = [
  [SERVICE_ACCOUNT_TOKEN, {}, { 'kubernetes.io/service-account.name': 'default' }],
  ['bootstrap.kubernetes.io/token', { data: { 'token-id': text('abcdef'), 'token-secret': text('0123456789abcdef') } }],
  ['kubernetes.io/tls', { data: { 'tls.crt': '', 'tls.key': '' } }],
  ['kubernetes.io/dockerconfigjson', { data: { '.dockerconfigjson': text('{}') } }],
  ['kubernetes.io/dockercfg', { data: { '.dockercfg': text('{}') } }],
  ['kubernetes.io/basic-auth', { data: { username: text('a'), password: text('b') } }],
  ['kubernetes.io/ssh-auth', { data: { 'ssh-privatekey': text('a') } }],
  ['helm.sh/release.v1', DATA],
  ['cluster.x-k8s.io/secret', DATA],
]

const RESERVED = ['kube-system', 'kube-public', 'kube-node-lease', 'protected', 'controllers-argocd']

function marked(scene: Scene, kind = 'TunnelCredential', more: Fields = {}): Fields {
  return { metadata: { ...mark(scene, kind), ...more } }
}

/** A Secret of a type, with all marks of an output. */
function typed(scene: Scene, namespace: string, [type, fields, annotations = {}]: (typeof TYPES)[number]) {
  const { annotations: own = {}, ...rest } = mark(scene, 'TunnelCredential')
  const metadata = { ...rest, annotations: { ...(own as Fields), ...annotations } }
  return secret(namespace, 'stolen', { type, ...fields, metadata })
}

const ofTypes: readonly Case[] = TYPES.flatMap((type): readonly Case[] => [
  {
    title: `create a Secret of type ${type[0]} with every mark of an output`,
    says: 'only Secrets of type Opaque',
    attempt: (scene) => ({ verb: 'create', on: typed(scene, scene.tenant, type) }),
  },
  {
    title: `apply a Secret of type ${type[0]} that is not there`,
    token: 'namespace',
    says: 'only Secrets of type Opaque',
    attempt: (scene) => ({ verb: 'apply', on: typed(scene, scene.tenant, type) }),
  },
])

const [serviceAccountToken, bootstrapToken] = TYPES as [(typeof TYPES)[number], (typeof TYPES)[number]]

const elsewhere: readonly Case[] = [
  ...[serviceAccountToken, bootstrapToken].map(
    (type): Case => ({
      title: `create a Secret of type ${type[0]} in kube-system`,
      attempt: (scene) => ({ verb: 'create', on: typed(scene, 'kube-system', type) }),
    }),
  ),
  {
    title: "create a token of the operator's own ServiceAccount in its own namespace, named as a kept key",
    token: 'namespace',
    says: 'only Secrets of type Opaque',
    attempt: (scene) => ({
      verb: 'create',
      on: secret(scene.home, 'culvert-key-stolen', {
        type: serviceAccountToken[0],
        metadata: {
          labels: { 'app.kubernetes.io/managed-by': 'culvert' },
          annotations: { 'kubernetes.io/service-account.name': 'culvert' },
        },
      }),
    }),
  },
  ...RESERVED.flatMap((namespace): readonly Case[] => [
    {
      title: `create an Opaque Secret with every mark of an output in ${namespace}`,
      says: 'into protected namespaces',
      attempt: (scene) => ({ verb: 'create', on: secret(namespace, 'stolen', { ...OPAQUE, ...marked(scene) }) }),
    },
    {
      title: `create a ConfigMap with every mark of an output in ${namespace}`,
      says: 'into protected namespaces',
      attempt: (scene) => {
        return { verb: 'create', on: configMap(namespace, 'aws-auth', marked(scene, 'SSHCertificateAuthority')) }
      },
    },
  ]),
  {
    title: 'patch a Secret of kube-system that carries the note of an output',
    says: 'into protected namespaces',
    given: () => [secret('kube-system', 'noted', { ...OPAQUE, metadata: note('TunnelCredential') })],
    attempt: () => ({ verb: 'merge', on: secret('kube-system', 'noted'), body: { data: { token: text('other') } } }),
  },
  {
    title: 'create an Opaque Secret with every mark in a namespace that is not watched',
    token: 'namespace',
    by: 'rbac',
    attempt: (scene) => ({ verb: 'create', on: secret(scene.elsewhere, 'stolen', { ...OPAQUE, ...marked(scene) }) }),
  },
  {
    title:
      'create an Opaque Secret with every mark in a namespace that is not watched, where somebody gave it rights by mistake',
    token: 'namespace',
    says: 'only in the namespaces that it watches',
    attempt: (scene) => ({ verb: 'create', on: secret(scene.mistaken, 'stolen', { ...OPAQUE, ...marked(scene) }) }),
  },
  {
    title: 'create a Secret named as a kept key in the namespace of a tenant',
    attempt: (scene) => ({
      verb: 'create',
      on: secret(scene.tenant, 'culvert-key-stolen', {
        ...OPAQUE,
        metadata: { labels: { 'app.kubernetes.io/managed-by': 'culvert' } },
      }),
    }),
  },
]

/** A UID that no object has. */
const MADE_UP = '00000000-0000-4000-8000-000000000000'

/** A way to omit a part of the marks, and the message that refuses it. */
type Unmarked = readonly [what: string, metadata: (scene: Scene) => Fields, says: string]

const UNMARKED: readonly Unmarked[] = [
  ['without a mark', () => ({}), 'notes on every output'],
  ['with the label alone', (scene) => ({ labels: mark(scene, 'TunnelCredential').labels }), 'notes on every output'],
  ['with the note alone', () => note('TunnelCredential'), 'creates outputs only with its label'],
  [
    'without its label',
    (scene) => ({ ...mark(scene, 'TunnelCredential'), labels: {} }),
    'creates outputs only with its label',
  ],
  [
    'without an owner',
    (scene) => ({ ...mark(scene, 'TunnelCredential'), ownerReferences: [] }),
    'creates outputs only with its label',
  ],
  [
    'whose owner does not control it',
    (scene) => {
      const [owner] = mark(scene, 'TunnelCredential').ownerReferences as readonly Fields[]
      return { ...mark(scene, 'TunnelCredential'), ownerReferences: [{ ...owner, controller: false }] }
    },
    'creates outputs only with its label',
  ],
  [
    'whose note names another resource than its owner',
    (scene) => ({ ...mark(scene, 'TunnelCredential'), annotations: note('APIKey').annotations }),
    'creates outputs only with its label',
  ],
  ['that is owned by a kind without outputs', (scene) => mark(scene, 'IPPolicy'), 'notes on every output'],
  [
    'that is also owned by somebody else',
    (scene) => {
      const { ownerReferences, ...rest } = mark(scene, 'TunnelCredential')
      const other = { apiVersion: 'v1', kind: 'Secret', name: 'credentials', uid: scene.uids.Secret }
      return { ...rest, ownerReferences: [...(ownerReferences as readonly Fields[]), other] }
    },
    'secrets.metadata.ownerReferences',
  ],
  // The garbage collector knows no such type, and would never collect it.
  ...['culvert.dev/v0', 'culvert.dev/v1alpha1x'].map(
    (apiVersion): Unmarked => [
      `whose made-up owner has the version ${apiVersion}`,
      (scene) => {
        const [owner] = mark(scene, 'TunnelCredential').ownerReferences as readonly Fields[]
        return { ...mark(scene, 'TunnelCredential'), ownerReferences: [{ ...owner, apiVersion, uid: MADE_UP }] }
      },
      'secrets.metadata.ownerReferences',
    ],
  ),
  [
    'with a finalizer',
    (scene) => ({ ...mark(scene, 'TunnelCredential'), finalizers: ['example.com/stay'] }),
    'secrets.metadata.finalizers',
  ],
]

const unmarked: readonly Case[] = UNMARKED.map(([what, metadata, says]) => ({
  title: `create an Opaque Secret ${what}`,
  says,
  attempt: (scene) => ({
    verb: 'create',
    on: secret(scene.tenant, 'stolen', { ...OPAQUE, metadata: metadata(scene) }),
  }),
}))

const otherKinds: readonly Case[] = [
  {
    title: 'create a ConfigMap without a mark',
    says: 'notes on every output',
    attempt: ({ tenant }) => ({ verb: 'create', on: configMap(tenant, 'stolen', { data: { a: 'b' } }) }),
  },
  {
    title: 'create a ConfigMap that is owned by a kind that writes none',
    says: 'notes on every output',
    attempt: (scene) => ({ verb: 'create', on: configMap(scene.tenant, 'stolen', marked(scene)) }),
  },
  {
    title: 'create a Secret under a name that the API server chooses',
    token: 'namespace',
    attempt: ({ tenant }) => {
      const { collection } = secret(tenant, 'stolen-')
      const manifest = { apiVersion: 'v1', kind: 'Secret', metadata: { generateName: 'stolen-', namespace: tenant } }
      return { verb: 'create', on: { collection, name: 'stolen-', manifest } }
    },
  },
  {
    title: "create a Secret in the operator's own namespace that is no kept key",
    token: 'namespace',
    says: 'only in the namespaces that it watches',
    attempt: (scene) => ({ verb: 'create', on: secret(scene.home, 'stolen', { ...OPAQUE, ...marked(scene) }) }),
  },
  {
    title: 'create a kept key without its label',
    token: 'namespace',
    says: 'secrets.metadata.labels',
    attempt: ({ home }) => ({ verb: 'create', on: secret(home, 'culvert-key-stolen', OPAQUE) }),
  },
  {
    title: 'create a kept key with a finalizer',
    token: 'namespace',
    says: 'secrets.metadata.finalizers',
    attempt: ({ home }) => {
      const metadata = { labels: { 'app.kubernetes.io/managed-by': 'culvert' }, finalizers: ['example.com/stay'] }
      return { verb: 'create', on: secret(home, 'culvert-key-stolen', { ...OPAQUE, metadata }) }
    },
  },
]

/** Existing objects that are not outputs, and their owners. */
const FOREIGN: readonly (readonly [what: string, metadata: (scene: Scene) => Fields])[] = [
  ['of somebody', () => ({})],
  ['with the label alone', (scene) => ({ labels: mark(scene, 'TunnelCredential').labels })],
  [
    'with a note that somebody else owns',
    ({ uids }) => ({
      ...note('TunnelCredential'),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 'credentials', uid: uids.Secret }],
    }),
  ],
]

const PATCHES = ['merge', 'strategic', 'apply', 'json', 'delete'] as const

const foreign: readonly Case[] = FOREIGN.flatMap(([what, metadata], index) =>
  PATCHES.map((verb): Case => {
    const name = `foreign-${index}-${verb}`
    return {
      title: `${verb === 'delete' ? verb : `patch (${verb})`} a Secret ${what}`,
      token: 'namespace',
      says: 'changes and deletes only outputs that a resource of Culvert owns',
      given: (scene) => [secret(scene.tenant, name, { ...OPAQUE, metadata: metadata(scene) })],
      attempt: (scene) => {
        const on = secret(scene.tenant, name, {
          data: { token: text('other') },
          metadata: mark(scene, 'TunnelCredential'),
        })
        const change = [{ op: 'replace', path: '/data', value: { token: text('other') } }]
        return verb === 'json' ? { verb, on, body: change } : { verb, on }
      },
    }
  }),
)

/** Changes of an output that no operator makes. */
const OWN: readonly (readonly [what: string, change: (scene: Scene) => unknown, says: string])[] = [
  ['take the note off', () => ({ metadata: { annotations: null } }), 'notes on every output'],
  ['name another kind in the note', () => ({ metadata: note('Edge') }), 'notes on every output'],
  ['set a finalizer', () => ({ metadata: { finalizers: ['example.com/stay'] } }), 'secrets.metadata.finalizers'],
  [
    'give it to a made-up owner of another version',
    (scene) => {
      const owner = { apiVersion: 'culvert.dev/v0', kind: 'TunnelCredential', name: 'made-up', uid: MADE_UP }
      return {
        metadata: { ownerReferences: [...(mark(scene, 'TunnelCredential').ownerReferences as Fields[]), owner] },
      }
    },
    'secrets.metadata.ownerReferences',
  ],
  [
    'give it to somebody else',
    ({ uids }) => {
      const owner = { apiVersion: 'v1', kind: 'Secret', name: 'credentials', uid: uids.Secret }
      return { metadata: { ownerReferences: [owner] } }
    },
    'secrets.metadata.ownerReferences',
  ],
]

const own: readonly Case[] = OWN.map(([what, change, says]) => ({
  title: `patch an output: ${what}`,
  says,
  given: (scene) => [secret(scene.tenant, 'output', { ...OPAQUE, ...marked(scene) })],
  attempt: (scene) => ({ verb: 'merge', on: secret(scene.tenant, 'output'), body: change(scene) }),
}))

/** Secrets with the annotation of an output, but a type that no output has. */
const ofOtherType: readonly Case[] = (['merge', 'delete'] as const).map((verb) => ({
  title: `${verb} a token of a ServiceAccount that carries the note of an output`,
  token: 'namespace',
  says: 'only Secrets of type Opaque',
  given: (scene) => {
    const annotations = {
      ...(note('TunnelCredential').annotations as Fields),
      'kubernetes.io/service-account.name': 'default',
    }
    return [secret(scene.tenant, `noted-${verb}`, { type: serviceAccountToken[0], metadata: { annotations } })]
  },
  attempt: (scene) => ({ verb, on: secret(scene.tenant, `noted-${verb}`), body: { data: { a: text('b') } } }),
}))

/** Objects that a control plane, a node or every Pod obeys. */
const systemObjects: readonly Case[] = [
  configMap('kube-system', 'aws-auth', { data: { mapRoles: '' } }),
  configMap('kube-public', 'cluster-info', { data: { kubeconfig: '' } }),
  // Kubernetes creates it in every namespace, and restores it.
  configMap('default', 'kube-root-ca.crt'),
  secret('kube-system', 'bootstrap-token-abcdef', { type: bootstrapToken[0], ...bootstrapToken[1] }),
].flatMap((on) =>
  (['merge', 'delete'] as const).map((verb): Case => {
    const { kind } = on.manifest
    return {
      title: `${verb} the ${kind} ${on.name}`,
      given: () => ('data' in on.manifest ? [on] : []),
      attempt: () => ({ verb, on, body: { data: { stolen: kind === 'Secret' ? text('yes') : 'yes' } } }),
    }
  }),
)

const collections: readonly Case[] = [
  ...(['secrets', 'configmaps'] as const).map(
    (plural): Case => ({
      title: `delete all ${plural} of a namespace at once`,
      by: 'rbac',
      attempt: ({ tenant }) => ({
        verb: 'deletecollection',
        on: plural === 'secrets' ? secret(tenant, '') : configMap(tenant, ''),
      }),
    }),
  ),
  {
    title: 'delete all Secrets of a namespace at once, with more rights than it should have',
    token: 'cluster-admin',
    given: ({ elsewhere }) => [secret(elsewhere, 'foreign-all', OPAQUE)],
    attempt: ({ elsewhere }) => ({ verb: 'deletecollection', on: secret(elsewhere, '') }),
  },
  {
    title: 'replace a Secret of somebody',
    by: 'rbac',
    given: ({ tenant }) => [secret(tenant, 'foreign-put', OPAQUE)],
    attempt: ({ tenant }) => ({ verb: 'replace', on: secret(tenant, 'foreign-put', { type: 'Opaque' }) }),
  },
]

/** Attempts of a thief with Secrets and ConfigMaps. */
export const dataCases: readonly Case[] = [
  ...ofTypes,
  ...elsewhere,
  ...unmarked,
  ...otherKinds,
  ...foreign,
  ...own,
  ...ofOtherType,
  ...systemObjects,
  ...collections,
]
