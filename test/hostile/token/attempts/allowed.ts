import {
  type Attempt,
  configMap,
  dnsEndpoint,
  lease,
  mark,
  note,
  resource,
  roleBinding,
  type Scene,
  secret,
} from '../support/attempt.ts'

const MANAGED = { labels: { 'app.kubernetes.io/managed-by': 'culvert' } }
const DATA = { type: 'Opaque', data: { token: 'dmFsdWU=' } }
const POLICY = (scene: Scene) => resource('IPPolicy', 'ippolicies', scene.tenant)
const RECORDS = {
  spec: { endpoints: [{ dnsName: 'shop.example.com', recordType: 'CNAME', targets: ['a.example.com'] }] },
}

/** The operator's requests, sent by the token's owner: a policy must allow them. */
export const allowed: readonly {
  readonly title: string
  readonly given?: (scene: Scene) => readonly ReturnType<typeof secret>[]
  readonly attempt: (scene: Scene) => Attempt
}[] = [
  {
    title: 'creates an output',
    attempt: (scene) => ({
      verb: 'create',
      on: secret(scene.tenant, 'made', { ...DATA, metadata: mark(scene, 'TunnelCredential') }),
    }),
  },
  {
    title: 'creates a ConfigMap',
    attempt: (scene) => ({
      verb: 'create',
      on: configMap(scene.tenant, 'made', { metadata: mark(scene, 'SSHCertificateAuthority') }),
    }),
  },
  {
    title: 'creates a DNSEndpoint',
    attempt: (scene) => ({
      verb: 'create',
      on: dnsEndpoint(scene.tenant, 'made', { ...RECORDS, metadata: mark(scene, 'ReservedDomain') }),
    }),
  },
  {
    title: 'publishes the challenge of a domain',
    attempt: (scene) => {
      const endpoint = {
        dnsName: '_acme-challenge.listed.example.org',
        recordType: 'CNAME',
        targets: ['a.example.com'],
      }
      const metadata = mark(scene, 'ReservedDomain')
      return { verb: 'create', on: dnsEndpoint(scene.tenant, 'made', { spec: { endpoints: [endpoint] }, metadata }) }
    },
  },
  {
    title: 'takes over what a former resource of the name left',
    given: ({ tenant }) => [secret(tenant, 'left', { ...DATA, metadata: note('TunnelCredential') })],
    attempt: (scene) => ({
      verb: 'merge',
      on: secret(scene.tenant, 'left'),
      body: { ...DATA, metadata: mark(scene, 'TunnelCredential') },
    }),
  },
  {
    title: 'notes on what it owns what somebody took off',
    given: (scene) => {
      const { ownerReferences } = mark(scene, 'TunnelCredential')
      return [secret(scene.tenant, 'stripped', { ...DATA, metadata: { ownerReferences } })]
    },
    attempt: (scene) => ({
      verb: 'merge',
      on: secret(scene.tenant, 'stripped'),
      body: { metadata: mark(scene, 'TunnelCredential') },
    }),
  },
  {
    title: 'leaves an output without an owner',
    given: (scene) => [secret(scene.tenant, 'released', { ...DATA, metadata: mark(scene, 'TunnelCredential') })],
    attempt: ({ tenant }) => ({
      verb: 'merge',
      on: secret(tenant, 'released'),
      body: { metadata: { ownerReferences: [], ...note('TunnelCredential') } },
    }),
  },
  {
    title: 'deletes an output',
    given: (scene) => [secret(scene.tenant, 'done', { ...DATA, metadata: mark(scene, 'TunnelCredential') })],
    attempt: ({ tenant }) => ({ verb: 'delete', on: secret(tenant, 'done') }),
  },
  {
    title: 'keeps a key',
    attempt: ({ home }) => ({
      verb: 'apply',
      on: secret(home, 'culvert-key-1', { type: 'Opaque', data: { apiKey: 'dmFsdWU=' }, metadata: MANAGED }),
    }),
  },
  {
    title: 'forgets a key',
    given: ({ home }) => [secret(home, 'culvert-key-2', { ...DATA, metadata: MANAGED })],
    attempt: ({ home }) => ({ verb: 'delete', on: secret(home, 'culvert-key-2') }),
  },
  {
    title: 'makes a salt',
    attempt: ({ home }) => ({
      verb: 'create',
      on: secret(home, 'culvert-salt', {
        type: 'Opaque',
        data: { salt: 'dmFsdWU=' },
        immutable: true,
        metadata: MANAGED,
      }),
    }),
  },
  { title: 'creates its Lease', attempt: ({ home }) => ({ verb: 'create', on: lease(home, 'culvert') }) },
  {
    title: 'renews its Lease',
    given: ({ home }) => [lease(home, 'culvert')],
    attempt: ({ home }) => ({ verb: 'merge', on: lease(home, 'culvert'), body: { spec: { holderIdentity: 'me' } } }),
  },
  {
    title: 'holds a resource and notes an attempt',
    attempt: (scene) => ({
      verb: 'merge',
      on: POLICY(scene),
      body: {
        metadata: {
          finalizers: ['culvert.dev/remote'],
          annotations: { 'internal.culvert.dev/create-attempt': 'x', 'internal.culvert.dev/id': 'y' },
        },
      },
    }),
  },
  {
    title: 'writes a status',
    attempt: (scene) => ({
      verb: 'merge',
      on: POLICY(scene),
      subresource: 'status',
      body: { status: { id: 'ipp_1' } },
    }),
  },
  {
    title: 'shows a session',
    attempt: ({ tenant }) => ({ verb: 'create', on: resource('TunnelSession', 'tunnelsessions', tenant, 'ts-1') }),
  },
  {
    title: 'holds its RoleBinding',
    attempt: ({ tenant, hold }) => {
      return {
        verb: 'merge',
        on: roleBinding(tenant, hold),
        body: { metadata: { finalizers: ['culvert.dev/remote'] } },
      }
    },
  },
]
