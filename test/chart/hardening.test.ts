import { expect, it } from 'vitest'
import { MODES, merged, render, type Values } from './support/helm.ts'
import { byKubeScore, byTrivysRules, type Objection } from './support/judges.ts'

/** An accepted objection, and why. */
interface Exception {
  readonly check: string
  /** The objects concerned. */
  readonly objects: RegExp
  /** The messages concerned, if the check covers several things. Default: all. */
  readonly message?: RegExp
  readonly reason: string
}

/** The chart with its defaults, as a release ships it, and with everything that it can create. */
const sets: Readonly<Record<string, Values>> = {
  'as it comes': MODES.cluster,
  'for some namespaces': MODES.namespaces,
  'as a release ships it': merged(MODES.cluster, { image: { digest: `sha256:${'0'.repeat(64)}` } }),
  'without watching Secrets': merged(MODES.cluster, { watchSecrets: false }),
  'with all that it can make': merged(MODES.cluster, {
    emulator: { enabled: true },
    metrics: { authentication: { enabled: true } },
    serviceMonitor: { enabled: true },
    podMonitor: { enabled: true },
    prometheusRule: { enabled: true },
    dashboard: { enabled: true },
    networkPolicy: { egress: true },
  }),
}

const exceptions: readonly Exception[] = [
  {
    check: 'container-resources',
    objects: /^(Deployment|Job|Pod)\//,
    message: /CPU limit is not set/,
    reason:
      'A leader that is throttled renews its Lease late. Memory and storage are limited; requests say what share of the CPU is its own.',
  },
  { check: 'KSV011', objects: /^(Deployment|Job|Pod)\//, reason: 'The same, in Trivy’s words.' },
  {
    check: 'container-image-pull-policy',
    objects: /^(Deployment|Job|Pod)\//,
    reason:
      'A released chart names its image by digest: a node that has it has that very image. image.pullPolicy changes it.',
  },
  {
    check: 'pod-networkpolicy',
    objects: /^(Deployment|Job|Pod)\//,
    message: /egress/,
    reason:
      'Only the administrator knows the addresses of the API server and of the management API: networkPolicy.egress.',
  },
  {
    check: 'deployment-has-host-podantiaffinity',
    objects: /^Deployment\/culvert$/,
    reason: 'topologySpreadConstraints spread the operators over nodes, and let them start where there is one node.',
  },
  {
    check: 'deployment-replicas',
    objects: /^Deployment\/culvert-emulator$/,
    reason: 'It keeps its data in memory: two at a time would be two services.',
  },
  {
    check: 'deployment-strategy',
    objects: /^Deployment\/culvert-emulator$/,
    reason: 'The same: the old one has to be gone before the new one starts.',
  },
  {
    check: 'pod-probes',
    objects: /^Deployment\/culvert-emulator$/,
    message: /livenessProbe/,
    reason: 'A restart would lose what it holds.',
  },
  {
    check: 'KSV041',
    objects: /^ClusterRole\/culvert-system-culvert/,
    reason:
      'It reads the keys of accounts and keeps tokens in Secrets; which of them it writes, the admission policy says. docs/security.md',
  },
  {
    check: 'KSV113',
    objects: /^Role\/culvert/,
    reason: 'The same, in its own namespace and in those that it watches.',
  },
  {
    check: 'KSV049',
    objects: /Role\/culvert/,
    reason: 'SSHCertificateAuthorities put their public key into a ConfigMap.',
  },
  ...['KSV039', 'KSV040'].map((check) => ({
    check,
    objects: /./,
    reason:
      'LimitRange and ResourceQuota are for the administrator of a namespace, and would hold for what else is in it.',
  })),
  ...['KSV032', 'KSV033', 'KSV035'].map((check) => ({
    check,
    objects: /^(Deployment|Job|Pod)\//,
    reason: 'The registry is neither Azure’s, Google’s nor Amazon’s.',
  })),
]

/** Every objection of both linters to the objects of a set. */
const objections = new Map<string, Promise<readonly Objection[]>>()

function objectionsTo(set: string): Promise<readonly Objection[]> {
  const known = objections.get(set) ?? judge(sets[set] ?? {})
  objections.set(set, known)
  return known
}

async function judge(values: Values): Promise<readonly Objection[]> {
  const objects = await render(4, values)
  const { checks, findings } = await byTrivysRules(objects)
  expect(checks.length).toBeGreaterThan(150)
  return [...(await byKubeScore(objects)), ...findings]
}

function isMeant({ check, objects, message = /./ }: Exception, objection: Objection): boolean {
  return check === objection.check && objects.test(objection.object) && message.test(objection.message)
}

it.each(Object.keys(sets))('raises no objection of kube-score or Trivy, %s, except the listed ones', async (set) => {
  const found = await objectionsTo(set)
  expect(found.filter((objection) => !exceptions.some((exception) => isMeant(exception, objection)))).toEqual([])
})

it('lists no exception that is not needed', async () => {
  const all = (await Promise.all(Object.keys(sets).map(objectionsTo))).flat()
  expect(exceptions.filter((exception) => !all.some((objection) => isMeant(exception, objection)))).toEqual([])
})

it('the tools judge: both object to a container that runs as root', async () => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'bad', namespace: 'shop' } }
  const bad = { ...pod, spec: { containers: [{ name: 'a', image: 'x:1', securityContext: { privileged: true } }] } }
  expect((await byKubeScore([bad])).map(({ check }) => check)).toContain('container-security-context-privileged')
  expect((await byTrivysRules([bad])).findings.map(({ check }) => check)).toContain('KSV017')
})
