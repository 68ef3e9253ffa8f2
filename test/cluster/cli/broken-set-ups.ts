import { leaderOf } from '../../../src/cli/cluster/operator-lease.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { createKubeClient } from '../../../src/kube/client.ts'
import { loadKubeConnection } from '../../../src/kube/load-config.ts'
import type { KubeObject, ResourceType } from '../../../src/kube/types.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { OperatorAccount } from '../support/operator-account.ts'
import { until } from '../support/wait.ts'
import { conditionOf, typeOf, type World, type WorldOptions } from '../support/world.ts'

type Spec = Record<string, unknown>

/** A set-up in which something is wrong, and what a person must be told first. */
export interface BrokenSetUp {
  readonly title: string
  readonly options?: WorldOptions
  /** Whether it breaks what all tests of a cluster share. */
  readonly ownCluster?: true
  /** Breaks the set-up, and waits until the operator has noticed. */
  readonly make: (world: World) => Promise<unknown>
  /** Undoes what would hinder the world's end. */
  readonly mend?: (world: World) => Promise<unknown>
  /** The resource that a person asks about. */
  readonly asked: string
  /** What `culvert why` must say of it. */
  readonly says: RegExp
  /** The command that it must end with. */
  readonly command: RegExp
  /** The exit code of `culvert why`. Default: 0. */
  readonly code?: number
  /** The object that `culvert doctor` must name first, or nothing. Default: the resource that a person asks about. */
  readonly first?: string
  /** The kubeconfig of the user who asks. Default: an administrator's. */
  readonly asker?: (world: World) => Promise<string>
  /** Whether `npm test` plays it too. Not if another one shows the diagnosis as well, in another place. */
  readonly isDaily?: true
}

const group: Spec = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }
const office: Spec = { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] }
const edge: Spec = { protocol: 'TLS', backend: { name: 'web' } }
const failover = (...names: readonly string[]): Spec => ({
  type: 'Failover',
  failover: { backendRefs: names.map((name) => ({ name })) },
})

const RBAC = 'rbac.authorization.k8s.io'
const rbac = (plural: string, kind: string): ResourceType => {
  return { group: RBAC, version: 'v1', plural, kind, namespaced: true }
}
const crds: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
}
const webhooks: ResourceType = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
}
const systemParts = { clock: systemClock, random: systemRandom, userAgent: 'culvert-test' }

/** Waits until a resource reports this reason, and the account anything: not every resource waits for it. */
const told = async (world: World, kind: string, name: string, reason: string): Promise<void> => {
  await world.reason(kind, name, 'Synced', reason)
  await accountSeen(world)
}

const accountSeen = async (world: World): Promise<unknown> => {
  return await world.until('Account', 'default', 'was looked at', ({ status }) => status?.conditions !== undefined)
}

const apply = async (world: World, kind: string, name: string, spec: Spec, reason: string): Promise<void> => {
  await world.apply(kind, name, spec)
  await told(world, kind, name, reason)
}

/** Each request to these paths fails. */
const failing = (world: World, status: number, path: string, method?: string): void => {
  const body = { error_code: 'E', status_code: status, msg: 'made to fail', details: {} }
  world.emulator.admin.addFault({ match: { path, every: true, method }, act: { type: 'status', status, body } })
}

/** Lets the CRD of API keys serve its version, or not. */
const serveAPIKeys = async (world: World, served: boolean): Promise<void> => {
  const name = { name: 'apikeys.culvert.dev' }
  const crd = await world.kube.get<KubeObject & { spec: { versions: readonly object[] } }>(crds, name)
  const versions = crd?.spec.versions.map((version) => ({ ...version, served }))
  await world.kube.mergePatch(crds, name, { spec: { versions } })
  await until(`that API keys are served is ${served}`, async () => {
    const isServed = await world.list('APIKey').then(
      () => true,
      () => false,
    )
    return isServed === served
  })
}

/** Connects two agents. */
const twoAgents = async (world: World): Promise<void> => {
  const { body } = await world.api.post('/credentials', {})
  for (const metadata of ['one', 'two']) world.emulator.admin.connectAgent({ token: String(body.token), metadata })
}

/** Someone who may see all of Culvert's resources except backends, and nothing else. */
const withoutBackends = async ({ kube, kubeconfig, namespace }: World): Promise<string> => {
  const name = 'reader'
  const account = await OperatorAccount.ofNobody({ kube, kubeconfig, namespace, name })
  const resources = kinds.map(({ definition }) => definition.plural).filter((plural) => plural !== 'backends')
  const rules = [{ apiGroups: ['culvert.dev'], resources, verbs: ['get', 'list'] }]
  await kube.apply(rbac('roles', 'Role'), { namespace, name }, { rules })
  const roleRef = { apiGroup: RBAC, kind: 'Role', name }
  const subjects = [{ kind: 'ServiceAccount', name, namespace }]
  await kube.apply(rbac('rolebindings', 'RoleBinding'), { namespace, name }, { roleRef, subjects })
  const theirs = account.kubeconfigFor(kubeconfig)
  const user = createKubeClient({ connection: loadKubeConnection({ kubeconfig: theirs }), ...systemParts })
  await until('they may see edges', () =>
    user.list(typeOf('Edge'), { namespace }).then(
      () => true,
      () => undefined,
    ),
  )
  await user.close()
  return theirs
}

/** An edge with a group behind it that no agent serves. */
const served = async (world: World): Promise<void> => {
  const labels = { app: 'shop', tier: 'web' }
  await world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels } })
  await world.apply('Edge', 'shop', edge)
  await world.ready('Edge', 'shop')
}

/** Each is broken in one way, and played on real servers. */
export const brokenSetUps: readonly BrokenSetUp[] = [
  {
    title: 'a reference to nothing',
    make: (world) => apply(world, 'Edge', 'shop', edge, 'ReferenceNotReady'),
    asked: 'Edge/shop',
    says: /is waiting .*The cause is spec\.backend, Backend\/web, which does not exist\..*To do: Start with that resource/,
    command: /^kubectl get backends\.culvert\.dev -n /,
  },
  {
    title: 'a reference to nothing, two references away',
    isDaily: true,
    make: async (world) => {
      await apply(world, 'Backend', 'web', failover('gone'), 'ReferenceNotReady')
      await apply(world, 'Edge', 'shop', edge, 'ReferenceNotReady')
    },
    asked: 'Edge/shop',
    says: /It depends on spec\.backend, Backend\/web, which is waiting.*The cause is spec\.failover\.backendRefs\[0\], Backend\/gone, which does not exist/,
    command: /^kubectl get backends\.culvert\.dev -n /,
    first: 'Backend/web',
  },
  {
    title: 'a cycle of references',
    isDaily: true,
    make: async (world) => {
      await world.apply('Backend', 'one', failover('two'))
      await apply(world, 'Backend', 'two', failover('one'), 'ReferenceCycle')
      await world.apply('Edge', 'shop', { protocol: 'TLS', backend: { name: 'one' } })
      await told(world, 'Edge', 'shop', 'ReferenceNotReady')
      await world.annotate('Backend', 'one', { 'culvert.dev/reconcile-requested-at': 'again' })
      await told(world, 'Backend', 'one', 'ReferenceCycle')
    },
    asked: 'Edge/shop',
    says: /Backend\/one, which is stalled.*references form a cycle.*Remove one of the references/,
    command: /^kubectl edit backends\.culvert\.dev\/one /,
    first: 'Backend/one',
  },
  {
    title: 'a wrong key',
    isDaily: true,
    make: async (world) => {
      await world.setKey('wrong')
      await world.reason('Account', 'default', 'Ready', 'Unauthorized')
      await apply(world, 'Backend', 'web', group, 'AccountNotReady')
    },
    asked: 'Backend/web',
    says: /It depends on its account, Account\/default, which .*Store a valid key in the Secret/,
    command: /^kubectl create secret generic credentials -n \S+ --from-file=apiKey=/,
    first: 'Account/default',
  },
  {
    title: 'no Secret with the key',
    options: { account: { apiKeySecretRef: { name: 'absent' } } },
    make: async (world) => {
      await world.reason('Account', 'default', 'Ready', 'SecretMissing')
      await apply(world, 'Backend', 'web', group, 'AccountNotReady')
    },
    asked: 'Backend/web',
    says: /Account\/default, which .*Secret absent with key apiKey does not exist/,
    command: /^kubectl create secret generic absent -n \S+ --from-file=apiKey=/,
    first: 'Account/default',
  },
  {
    title: 'an API on a host that is not allowed',
    isDaily: true,
    make: async (world) => {
      const apiKeySecretRef = { name: 'credentials' }
      await world.apply('Account', 'other', { baseURL: 'https://elsewhere.example', apiKeySecretRef })
      await world.reason('Account', 'other', 'Ready', 'BaseURLNotAllowed')
      await apply(world, 'Backend', 'web', { ...group, accountRef: { name: 'other' } }, 'AccountNotReady')
    },
    asked: 'Backend/web',
    says: /Account\/other, which is stalled.*has a host that is not allowed.*--allow-api-host/,
    command: /^kubectl edit accounts\.culvert\.dev\/other /,
    first: 'Account/other',
  },
  {
    title: 'an account that does not exist',
    make: (world) => apply(world, 'Backend', 'web', { ...group, accountRef: { name: 'absent' } }, 'AccountNotReady'),
    asked: 'Backend/web',
    says: /The cause is its account, Account\/absent, which does not exist/,
    command: /^kubectl get accounts\.culvert\.dev -n /,
  },
  {
    title: 'a pause',
    make: async (world) => {
      await world.apply('Backend', 'web', group, { annotations: { 'culvert.dev/paused': 'true' } })
      await told(world, 'Backend', 'web', 'Paused')
    },
    asked: 'Backend/web',
    says: /Backend\/web in namespace \S+ is paused.*Remove the annotation to resume/,
    command: /^culvert resume -n \S+ backend\/web$/,
  },
  {
    title: 'a paused resource that another needs',
    make: async (world) => {
      await world.apply('Backend', 'web', group, { annotations: { 'culvert.dev/paused': 'true' } })
      await apply(world, 'Edge', 'shop', edge, 'ReferenceNotReady')
    },
    asked: 'Edge/shop',
    says: /It depends on spec\.backend, Backend\/web, which is paused/,
    command: /^culvert resume -n \S+ backend\/web$/,
    first: 'Backend/web',
  },
  {
    title: 'a domain that is taken',
    make: async (world) => {
      await world.api.create('/reserved_domains', { domain: 'shop.tunnel.example' })
      await apply(world, 'ReservedDomain', 'shop', { domain: 'shop.tunnel.example' }, 'Conflict')
    },
    asked: 'ReservedDomain/shop',
    says: /is stalled until someone intervenes.*shop\.tunnel\.example belongs to .*Free the name/,
    command: /^kubectl edit reserveddomains\.culvert\.dev\/shop /,
  },
  {
    title: 'a value that the spec must not have',
    make: (world) => {
      const spec = { type: 'HTTPResponse', httpResponse: { body: 'x', headers: { 'not a name': 'x' } } }
      return apply(world, 'Backend', 'web', spec, 'InvalidSpec')
    },
    asked: 'Backend/web',
    says: /is not a header name.*Correct the spec/,
    command: /^kubectl edit backends\.culvert\.dev\/web /,
  },
  {
    title: 'an input from a Secret that is missing',
    make: (world) => {
      const spec = { caPEMFrom: { secretKeyRef: { name: 'absent', key: 'ca.crt' } } }
      return apply(world, 'CertificateAuthority', 'staff', spec, 'SecretMissing')
    },
    asked: 'CertificateAuthority/staff',
    says: /absent.*Create it, or correct the name in the spec/,
    command: /^kubectl create secret generic absent -n \S+ --from-file=ca\.crt=/,
  },
  {
    title: 'an input from a ConfigMap that is missing',
    make: (world) => {
      const spec = { caPEMFrom: { configMapKeyRef: { name: 'absent', key: 'ca.crt' } } }
      return apply(world, 'CertificateAuthority', 'staff', spec, 'ConfigMapMissing')
    },
    asked: 'CertificateAuthority/staff',
    says: /absent.*Create it, or correct the name in the spec/,
    command: /^kubectl create configmap absent -n \S+ --from-file=ca\.crt=/,
  },
  {
    title: 'an input that is no certificate',
    make: async (world) => {
      await world.configMap('ca', { 'ca.crt': 'garbage' })
      const spec = { caPEMFrom: { configMapKeyRef: { name: 'ca', key: 'ca.crt' } } }
      await apply(world, 'CertificateAuthority', 'staff', spec, 'InvalidInput')
    },
    asked: 'CertificateAuthority/staff',
    says: /Correct the Secret or ConfigMap/,
    command: /^kubectl create configmap ca -n \S+ --from-file=ca\.crt=/,
  },
  {
    title: 'an output whose Secret is somebody else’s',
    make: async (world) => {
      await world.secret('ci', { token: 'theirs' })
      await apply(world, 'APIKey', 'ci', {}, 'OutputNotOwned')
    },
    asked: 'APIKey/ci',
    says: /Choose another one in `spec\.output`, or delete it/,
    command: /^kubectl edit apikeys\.culvert\.dev\/ci /,
  },
  {
    title: 'an API that refuses the object',
    make: async (world) => {
      failing(world, 400, '/backends/*', 'POST')
      await apply(world, 'Backend', 'web', group, 'Rejected')
    },
    asked: 'Backend/web',
    says: /is stalled.*Culvert reported Rejected about Backend\/web once.*Correct the spec, or add what is missing/,
    command: /^kubectl edit backends\.culvert\.dev\/web /,
  },
  {
    title: 'an edit that the API refuses',
    make: async (world) => {
      await world.apply('Backend', 'web', group)
      await world.ready('Backend', 'web')
      failing(world, 400, '/backends/*/*', 'PATCH')
      await apply(world, 'Backend', 'web', { ...group, description: 'no' }, 'Rejected')
    },
    asked: 'Backend/web',
    says: /is stalled.*Its object works as before/,
    command: /^kubectl edit backends\.culvert\.dev\/web /,
  },
  {
    title: 'an API that fails',
    make: async (world) => {
      failing(world, 500, '/backends/*/*', 'PATCH')
      await world.apply('Backend', 'web', group)
      await world.ready('Backend', 'web')
      await apply(world, 'Backend', 'web', { ...group, description: 'new' }, 'ApiError')
    },
    asked: 'Backend/web',
    says: /is not in sync.*Its object works as before.*If it persists, check the message and the state of the API/,
    command: /^culvert reconcile -n \S+ backend\/web --wait$/,
  },
  {
    title: 'an API that does not answer',
    make: async (world) => {
      world.emulator.admin.addFault({ match: { path: '/**', every: true }, act: { type: 'drop' } })
      await world.annotate('Account', 'default', { 'culvert.dev/reconcile-requested-at': 'now' })
      await world.reason('Account', 'default', 'Ready', 'Unreachable', 60_000)
      await apply(world, 'Backend', 'web', group, 'AccountNotReady')
    },
    asked: 'Backend/web',
    says: /Account\/default, which .*Check `spec\.baseURL`, proxy, NetworkPolicy/,
    command: /^culvert reconcile -n \S+ account\/default --wait$/,
    first: 'Account/default',
  },
  {
    title: 'a collection that the key may not list',
    make: async (world) => {
      // Where no other collection can be listed, it is the account that is not Ready.
      await world.apply('IPPolicy', 'office', office)
      await world.ready('IPPolicy', 'office')
      failing(world, 403, '/backends/tunnel_group', 'GET')
      await apply(world, 'Backend', 'web', group, 'CollectionNotListable')
    },
    asked: 'Backend/web',
    says: /Allow the API key to list the collection/,
    command: /^culvert reconcile /,
    first: 'Account/default',
  },
  {
    title: 'a key that opens another account',
    make: async (world) => {
      for (const name of ['one', 'two']) await world.apply('Backend', name, group)
      for (const name of ['one', 'two']) await world.ready('Backend', name)
      const [other] = world.emulator.admin.seed({ accounts: [{ name: 'other' }] }).accounts
      await world.setKey(other?.apiKey ?? '')
      await world.reason('Account', 'default', 'Ready', 'IdentityUnproven')
      await told(world, 'Backend', 'one', 'IdentityUnproven')
    },
    asked: 'Backend/one',
    says: /Restore the right key, or confirm the new account/,
    command: /^kubectl create secret generic credentials -n \S+ --from-file=apiKey=/,
    first: 'Account/default',
  },
  {
    title: 'a deletion of what is in use',
    make: async (world) => {
      await world.apply('IPPolicy', 'office', office)
      await world.ready('IPPolicy', 'office')
      await world.apply('Backend', 'web', { type: 'HTTPResponse', httpResponse: {} })
      await world.apply('Edge', 'shop', { ...edge, ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } })
      await world.ready('Edge', 'shop')
      await world.delete('IPPolicy', 'office')
      await world.until('IPPolicy', 'office', 'tells', ({ status }) => /in use/.test(JSON.stringify(status)))
    },
    asked: 'IPPolicy/office',
    says: /is being deleted.*in use by Edge\/shop.*Delete or change what still uses it/,
    command: /^kubectl patch ippolicies\.culvert\.dev\/office -n \S+ .*"deletionPolicy":"Retain"/,
  },
  {
    title: 'no object with the id that should be adopted',
    make: (world) => {
      const spec = { ...group, externalID: 'bkdtg_absent', managementPolicy: 'Manage' }
      return apply(world, 'Backend', 'web', spec, 'RemoteMissing')
    },
    asked: 'Backend/web',
    says: /bkdtg_absent.*Do what the message says/,
    command: /^kubectl edit backends\.culvert\.dev\/web /,
  },
  {
    title: 'an object that is only observed and differs',
    make: async (world) => {
      const id = await world.api.create('/backends/tunnel_group', { labels: { app: 'theirs' } })
      const spec = { ...group, externalID: id, managementPolicy: 'Observe' }
      await apply(world, 'Backend', 'web', spec, 'Observed')
    },
    asked: 'Backend/web',
    says: /works, but does not fully match its spec.*Nothing, unless you want to adopt it/,
    command: /^kubectl patch backends\.culvert\.dev\/web -n \S+ .*"managementPolicy":"Manage"/,
    first: 'nothing',
  },
  {
    title: 'a reference to another namespace that does not grant it',
    make: (world) => {
      const spec = { protocol: 'TLS', backend: { name: 'web', namespace: 'elsewhere' } }
      return apply(world, 'Edge', 'shop', spec, 'ReferenceNotPermitted')
    },
    asked: 'Edge/shop',
    says: /is stalled.*have the owner add your namespace to `spec\.allowedReferences`/,
    command: /^kubectl edit edges\.culvert\.dev\/shop /,
  },
  {
    title: 'an answer that cannot be used',
    make: async (world) => {
      await world.apply('SSHCertificateAuthority', 'hosts', { output: { configMap: { name: 'hosts' } } })
      await world.ready('SSHCertificateAuthority', 'hosts')
      const [object] = await world.remote('ssh_certificate_authorities')
      const act = { type: 'status', status: 200, body: { ...object, public_key: 'two\nlines' } } as const
      world.emulator.admin.addFault({ match: { path: '/ssh_certificate_authorities/*', every: true }, act })
      await world.annotate('SSHCertificateAuthority', 'hosts', { 'culvert.dev/reconcile-requested-at': 'now' })
      await told(world, 'SSHCertificateAuthority', 'hosts', 'AnswerRefused')
    },
    asked: 'SSHCertificateAuthority/hosts',
    says: /public_key that is not one line in authorized-keys format.*Report it to the provider of the API/,
    command: /^culvert reconcile -n \S+ sshcertificateauthority\/hosts --wait$/,
  },
  {
    title: 'DNS records that are missing',
    make: async (world) => {
      const spec = { domain: 'shop.customer.example', certificate: { type: 'Managed' } }
      await world.apply('ReservedDomain', 'shop', spec)
      await world.reason('ReservedDomain', 'shop', 'Ready', 'DNSError', 60_000)
    },
    asked: 'ReservedDomain/shop',
    says: /Create the records in `status\.dnsRecords`/,
    command: /^culvert reconcile -n \S+ reserveddomain\/shop --wait$/,
  },
  {
    title: 'an account without an operator',
    isDaily: true,
    options: { operator: false },
    make: (world) => world.apply('Backend', 'web', group),
    asked: 'Backend/web',
    says: /has no conditions.*It depends on its account, Account\/default, which has no conditions.*No Lease of an operator was found/,
    command: /^culvert doctor$/,
    first: 'operator',
  },
  {
    title: 'an operator that ended',
    options: {
      leaderElect: true,
      flags: '--lease-duration 3s --renew-deadline 2s --retry-period 500ms --request-timeout 900ms'.split(' '),
    },
    make: async (world) => {
      await world.apply('Backend', 'web', failover('absent'))
      await told(world, 'Backend', 'web', 'ReferenceNotReady')
      await world.operator.kill()
      await world.apply('Backend', 'absent', group)
      const flags = { release: 'culvert', operatorNamespace: world.operatorNamespace }
      await until('the Lease is silent', async () => {
        return (await leaderOf(world.kube, systemClock, flags)).type === 'silent'
      })
    },
    asked: 'Backend/absent',
    says: /Its operator does not run: Lease .*Start the operator/,
    command: /^kubectl get pods -n /,
    first: 'operator',
  },
  {
    title: 'a Secret that has the key under another name',
    options: { account: { apiKeySecretRef: { name: 'credentials', key: 'token' } } },
    make: async (world) => {
      await world.reason('Account', 'default', 'Ready', 'SecretMissing')
      await apply(world, 'Backend', 'web', group, 'AccountNotReady')
    },
    asked: 'Backend/web',
    says: /Account\/default, which .*Secret credentials with key token does not exist.*correct the name in the spec/,
    command: /^kubectl create secret generic credentials -n \S+ --from-file=token=/,
    first: 'Account/default',
  },
  {
    title: 'an https address at which plain http is spoken',
    make: async (world) => {
      const baseURL = world.emulator.url.replace('http:', 'https:')
      await world.apply('Account', 'other', { baseURL, apiKeySecretRef: { name: 'credentials' } })
      await world.reason('Account', 'other', 'Ready', 'Unreachable', 60_000)
      await apply(world, 'Backend', 'web', { ...group, accountRef: { name: 'other' } }, 'AccountNotReady')
    },
    asked: 'Backend/web',
    says: /Account\/other, which .*Check `spec\.baseURL`/,
    command: /^culvert reconcile -n \S+ account\/other --wait$/,
    first: 'Account/other',
  },
  {
    title: 'a key without a permission',
    make: async (world) => {
      failing(world, 403, '/backends/*', 'POST')
      await apply(world, 'Backend', 'web', group, 'Rejected')
    },
    asked: 'Backend/web',
    says: /is stalled.*give the API key the permission/,
    command: /^kubectl edit backends\.culvert\.dev\/web /,
  },
  {
    title: 'an API whose requests are used up',
    make: async (world) => {
      await world.apply('Backend', 'web', group)
      await world.ready('Backend', 'web')
      failing(world, 429, '/**')
      await apply(world, 'Backend', 'web', { ...group, description: 'new' }, 'ApiError')
    },
    asked: 'Backend/web',
    says: /is not in sync.*too many requests for this account; Culvert retries after a pause/,
    command: /^culvert reconcile -n \S+ backend\/web --wait$/,
    first: 'Account/default',
  },
  {
    title: 'two resources that adopt the same object',
    make: async (world) => {
      const externalID = await world.api.create('/backends/tunnel_group', { labels: { app: 'shop' } })
      const spec = { ...group, externalID, managementPolicy: 'Manage' }
      await world.apply('Backend', 'one', spec)
      await world.ready('Backend', 'one')
      await apply(world, 'Backend', 'two', spec, 'NotAdoptable')
    },
    asked: 'Backend/two',
    says: /is stalled.*Backend\/one.*Choose another object, or fix the problem in the message/,
    command: /^kubectl edit backends\.culvert\.dev\/two /,
  },
  {
    title: 'an agent whose acl lacks a label of the group',
    make: async (world) => {
      await served(world)
      await world.apply('TunnelCredential', 'agent', { acl: ['bind:app=shop'] })
      await world.ready('TunnelCredential', 'agent')
    },
    asked: 'Backend/web',
    says: /is Ready .*TunnelsOnline is false \(NoTunnels, read just now\).*To do: Start an agent .* whose `acl` permits each of them/,
    command: /^culvert doctor -n /,
  },
  {
    title: 'a group in use without tunnels',
    make: served,
    asked: 'Edge/shop',
    says: /is Ready .*Serving is false.*TunnelsOnline of Backend\/web is false \(NoTunnels, read just now\).*To do: Start an agent/,
    command: /^culvert doctor -n /,
    first: 'Backend/web',
  },
  {
    title: 'a certificate that expired as its spec says',
    make: async (world) => {
      await world.apply('SSHCertificateAuthority', 'team', {})
      await world.apply('SSHUserCertificate', 'alice', {
        sshCertificateAuthorityRef: { name: 'team' },
        publicKey: sshKeys.ed25519,
        principals: ['alice'],
        output: { secret: { name: 'alice-certificate' } },
        validUntil: new Date(Date.now() + 4000).toISOString(),
      })
      await world.reason('SSHUserCertificate', 'alice', 'Ready', 'Expired', 60_000)
    },
    asked: 'SSHUserCertificate/alice',
    says: /is stalled.*set a later validUntil.*Do what the message says/,
    command: /^kubectl edit sshusercertificates\.culvert\.dev\/alice /,
  },
  {
    title: 'an address at which another edge listens',
    make: async (world) => {
      await world.api.create('/reserved_domains', { domain: 'shop.tunnel.example' })
      await world.api.create('/edges/tls', { hostports: ['shop.tunnel.example:443'] })
      const hostports = [{ type: 'Host', host: 'shop.tunnel.example', port: 443 }]
      await apply(world, 'Edge', 'front', { protocol: 'TLS', hostports }, 'Conflict')
    },
    asked: 'Edge/front',
    says: /is stalled.*shop\.tunnel\.example:443.*Free the name, or choose another/,
    command: /^kubectl edit edges\.culvert\.dev\/front /,
  },
  {
    title: 'a host that nobody has reserved',
    make: (world) => {
      const hostports = [{ type: 'Host', host: 'shop.tunnel.example', port: 443 }]
      return apply(world, 'Edge', 'front', { protocol: 'TLS', hostports }, 'Rejected')
    },
    asked: 'Edge/front',
    says: /shop\.tunnel\.example:443 is neither on a reserved domain nor a reserved address/,
    command: /^kubectl edit edges\.culvert\.dev\/front /,
  },
  {
    title: 'a deletion of an account in use',
    make: async (world) => {
      await world.apply('Backend', 'web', group)
      await world.ready('Backend', 'web')
      await world.delete('Account', 'default')
      await world.until('Account', 'default', 'tells', ({ status }) => /Backend/.test(JSON.stringify(status)))
    },
    asked: 'Account/default',
    says: /Account\/default in namespace \S+ is being deleted .*Backend\/web.*Delete or change what still uses it/,
    command: /^kubectl patch accounts\.culvert\.dev\/default -n \S+ .*"op":"remove"/,
  },
  {
    title: 'another client that undoes every write',
    make: async (world) => {
      await world.apply('Backend', 'web', { ...group, description: 'ours' })
      const { status } = await world.ready('Backend', 'web')
      await until('the write is contested', async () => {
        await world.api.patch(`/backends/tunnel_group/${status?.id}`, { description: 'theirs' })
        await world.resync()
        return conditionOf(await world.get('Backend', 'web'), 'Synced')?.reason === 'TakenOver'
      })
    },
    asked: 'Backend/web',
    says: /another client keeps reverting this.*Have one of them release the object \(docs\/restore\.md\)/,
    command: /^culvert reconcile -n \S+ backend\/web --wait$/,
  },
  {
    title: 'a rule for a policy that has its own',
    make: async (world) => {
      await world.apply('IPPolicy', 'office', office)
      await world.ready('IPPolicy', 'office')
      const rule = { ipPolicyRef: { name: 'office' }, cidr: '10.1.0.0/16', action: 'Allow' }
      await apply(world, 'IPPolicyRule', 'vpn', rule, 'ReferenceRefused')
    },
    asked: 'IPPolicyRule/vpn',
    says: /is stalled.*set its rulesSource: IPPolicyRules.*Change one of the two resources/,
    command: /^kubectl edit ippolicyrules\.culvert\.dev\/vpn /,
  },
  {
    title: 'more sessions than an account shows',
    options: { account: { mirrorSessions: { enabled: true, maxSessions: 1 } } },
    make: async (world) => {
      await twoAgents(world)
      await world.resync()
      await world.until('Account', 'default', 'tells', ({ status }) => /TooManySessions/.test(JSON.stringify(status)))
    },
    asked: 'Account/default',
    says: /is Ready .*\(TooManySessions\).*To do: Raise `spec\.mirrorSessions\.maxSessions`/,
    command: /^culvert reconcile -n \S+ account\/default --wait$/,
  },
  {
    title: 'a deletion that waits for a finalizer of somebody else',
    make: async (world) => {
      await world.apply('Backend', 'web', group, { finalizers: ['example.com/hold'] })
      await world.ready('Backend', 'web')
      await world.delete('Backend', 'web')
      await world.until('Backend', 'web', 'is released', ({ metadata }) => metadata.finalizers?.length === 1)
    },
    asked: 'Backend/web',
    says: /is being deleted .*Culvert is done with it, but other finalizers remain: example\.com\/hold\. To do: Find out/,
    command: /^kubectl get backends\.culvert\.dev\/web -n \S+ -o jsonpath=/,
  },
  {
    title: 'a deletion that the API refuses',
    make: async (world) => {
      await world.apply('Backend', 'web', group)
      await world.ready('Backend', 'web')
      failing(world, 400, '/backends/*/*', 'DELETE')
      await world.delete('Backend', 'web')
      await world.until('Backend', 'web', 'tells', ({ status }) => /made to fail/.test(JSON.stringify(status)))
    },
    asked: 'Backend/web',
    says: /is being deleted .*made to fail.*To do: Do what the message says, or set `spec\.deletionPolicy: Retain`/,
    command: /^kubectl edit backends\.culvert\.dev\/web /,
  },
  {
    title: 'a deletion that the key may not make',
    make: async (world) => {
      await world.apply('Backend', 'web', group)
      await world.ready('Backend', 'web')
      failing(world, 403, '/backends/*/*', 'DELETE')
      await world.delete('Backend', 'web')
      await told(world, 'Backend', 'web', 'Rejected')
    },
    asked: 'Backend/web',
    says: /is being deleted .*give the API key the permission.*To do: Do what the message says, or set `spec\.deletionPolicy: Retain`/,
    command: /^kubectl edit backends\.culvert\.dev\/web /,
  },
  {
    title: 'a version header that the API does not know',
    options: { account: { versionHeader: 'Other-Version' } },
    make: async (world) => {
      await world.reason('Account', 'default', 'Ready', 'RequestsRefused', 60_000)
      await apply(world, 'Backend', 'web', group, 'AccountNotReady')
    },
    asked: 'Backend/web',
    says: /Account\/default, which .*check spec\.versionHeader.*To do: Check `spec\.versionHeader`/,
    command: /^kubectl edit accounts\.culvert\.dev\/default /,
    first: 'Account/default',
  },
  {
    title: 'a plan that waits for approval',
    make: (world) => apply(world, 'Backend', 'web', { ...group, managementPolicy: 'Plan' }, 'AwaitingApproval'),
    asked: 'Backend/web',
    says: /Backend\/web in namespace \S+ is held until someone intervenes .*waits for approval: create.*Read the plan .*then approve it \(docs\/approvals\.md\)/,
    command: /^culvert approve -n \S+ backend\/web$/,
  },
  {
    title: 'a tunnel where the operator runs no agents',
    make: async (world) => {
      await world.apply('Tunnel', 'shop', { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } })
      await world.reason('Tunnel', 'shop', 'Ready', 'TunnelsDisabled')
      await accountSeen(world)
    },
    asked: 'Tunnel/shop',
    says: /is stalled.*Have the administrator of Culvert set `tunnels\.enabled` in the chart/,
    command: /^culvert why -n \S+ tunnel\/shop --watch$/,
  },
  {
    title: 'a CRD without the version of this build',
    ownCluster: true,
    make: async (world) => {
      await world.apply('Backend', 'web', group)
      await world.ready('Backend', 'web')
      await serveAPIKeys(world, false)
    },
    mend: (world) => serveAPIKeys(world, true),
    asked: 'APIKey/ci',
    code: 1,
    says: /this cluster does not serve apikeys\.culvert\.dev\/v1alpha1: the CRD of this version is not installed/,
    command: /kubectl apply --server-side -f crds\/$/,
    first: 'CRD apikeys.culvert.dev',
  },
  {
    title: 'a webhook that nobody answers, in the way of every status of a kind',
    ownCluster: true,
    make: async (world) => {
      const rules = [
        { apiGroups: ['culvert.dev'], apiVersions: ['*'], operations: ['*'], resources: ['backends/status'] },
      ]
      const clientConfig = { service: { namespace: world.namespace, name: 'absent' } }
      const common = { name: 'hook.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None' }
      await world.kube.apply(webhooks, { name: 'hook' }, { webhooks: [{ ...common, clientConfig, rules }] })
      await world.apply('Backend', 'web', group)
      await until('the object exists', async () => (await world.remote('backends/tunnel_group')).length > 0)
    },
    asked: 'Backend/web',
    says: /Backend\/web in namespace \S+ has no conditions.*Check that the operator watches this namespace/,
    command: /^culvert doctor/,
    first: 'ValidatingWebhookConfiguration/hook',
  },
  {
    title: 'a person who may not read what another resource waits for',
    isDaily: true,
    make: async (world) => {
      await world.apply('Backend', 'web', failover('gone'))
      await apply(world, 'Edge', 'shop', edge, 'ReferenceNotReady')
    },
    asker: withoutBackends,
    asked: 'Edge/shop',
    says: /It depends on spec\.backend, Backend\/web, which cannot be read: you are not allowed to get backends\.culvert\.dev.*Ask an administrator/,
    command: /^kubectl auth can-i get backends\.culvert\.dev\/web -n /,
  },
]
