import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { kinds } from '../../../../src/kinds/index.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'
import { domainName, portName, type ServiceObjects, serviceObjects } from '../../../../src/managed/services/objects.ts'
import type { ServiceResource } from '../../../../src/managed/services/service.ts'
import { settingsOf } from '../../../../src/managed/services/settings.ts'
import { bindText } from '../../../../src/managed/tunnels/pod.ts'

const registry = new KindsRegistry(kinds)

/** A name that Kubernetes allows a Service. */
const serviceNames = fc.stringMatching(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/)
const ports = fc.integer({ min: 1, max: 65_535 })

function service(more: {
  readonly name?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec?: Partial<ServiceResource['spec']>
}): ServiceResource {
  const { name = 'web', annotations = {}, spec } = more
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop', uid: 'uid-1', resourceVersion: '1', annotations },
    spec: { type: 'LoadBalancer', loadBalancerClass: 'culvert.dev/edge', ports: [{ port: 80 }], ...spec },
  }
}

function foundFor(of: ServiceResource, maxPorts = 16) {
  return serviceObjects(of, { maxPorts }, (kind) => registry.resourceType(kind))
}

function objectsOf(of: ServiceResource): ServiceObjects {
  const found = foundFor(of)
  if ('refused' in found) throw new Error(found.refused.join('; '))
  return found
}

function specOf(of: ServiceResource, kind: string): Record<string, unknown> {
  const found = objectsOf(of).ports[0]?.objects.find(({ type }) => type.kind === kind)
  return found?.content.spec as Record<string, unknown>
}

describe('the name of a port', () => {
  test('is legal for a Tunnel, and the same each time', () => {
    fc.assert(
      fc.property(serviceNames, ports, (name, port) => {
        const made = portName(name, port)
        expect(made).toMatch(/^[a-z]([-a-z0-9]*[a-z0-9])?$/)
        expect(made.length).toBeLessThanOrEqual(40)
        expect(portName(name, port)).toBe(made)
      }),
    )
  })

  test('is that of no other port or Service', () => {
    // Few letters and long names, so that beginnings are shared and names look like hashed or numbered ones.
    const alike = fc.stringMatching(/^a[-a0]{0,61}[a0]$/)
    const place = fc.tuple(fc.oneof(alike, serviceNames), ports)
    fc.assert(
      fc.property(fc.uniqueArray(place, { selector: ([name, port]) => `${name}/${port}` }), (places) => {
        expect(new Set(places.map(([name, port]) => portName(name, port))).size).toBe(places.length)
      }),
    )
    expect(portName('a', 80)).toBe('a-80')
    expect(portName('a'.repeat(63), 80)).not.toBe(portName('a'.repeat(63), 8080))
  })

  test('is another for another domain', () => {
    expect(domainName('web', 'a.example.com')).not.toBe(domainName('web', 'b.example.com'))
  })
})

describe('what there should be for a Service', () => {
  test('is the same each time, with labels that SSH can bind and no other port has', () => {
    fc.assert(
      fc.property(serviceNames, fc.uniqueArray(ports, { minLength: 1, maxLength: 5 }), (name, numbers) => {
        const of = service({ name, spec: { ports: numbers.map((port) => ({ port })) } })
        const { ports: made } = objectsOf(of)
        expect(objectsOf(of).ports).toEqual(made)
        const binds = made.map(({ objects }) => {
          const backend = objects.find(({ type }) => type.kind === 'Backend')?.content.spec
          return bindText((backend as { tunnelGroup: { labels: Record<string, string> } }).tunnelGroup.labels)
        })
        for (const bind of binds) expect(bind).toHaveProperty('text')
        expect(new Set(binds.map((bind) => JSON.stringify(bind))).size).toBe(numbers.length)
      }),
    )
  })

  test('has every policy that is named, and asks for the absence of a restriction otherwise', () => {
    const annotations = { 'culvert.dev/ip-policies': ' office, lab,office' }
    expect(specOf(service({ annotations }), 'Edge').ipRestriction).toEqual({
      enabled: true,
      ipPolicyRefs: [{ name: 'office' }, { name: 'lab' }],
    })
    expect(specOf(service({}), 'Edge').ipRestriction).toBeNull()
  })

  test('is in the account that is named', () => {
    const annotations = { 'culvert.dev/account': 'ClusterAccount/shared' }
    for (const kind of ['ReservedAddress', 'Backend', 'Edge']) {
      expect(specOf(service({ annotations }), kind).accountRef).toEqual({ kind: 'ClusterAccount', name: 'shared' })
      expect(specOf(service({}), kind).accountRef).toBeUndefined()
    }
  })

  test('listens under the domain at the port of the Service', () => {
    const of = service({ annotations: { 'culvert.dev/domain': 'shop.example.com' }, spec: { ports: [{ port: 443 }] } })
    expect(specOf(of, 'Edge')).toMatchObject({
      protocol: 'TLS',
      hostports: [
        { type: 'ReservedDomain', reservedDomainRef: { name: domainName('web', 'shop.example.com') }, port: 443 },
      ],
    })
    expect(specOf(of, 'ReservedDomain')).toMatchObject({ domain: 'shop.example.com' })
    expect(specOf(of, 'ReservedAddress')).toBeUndefined()
  })

  test('leaves out ports that are not TCP, and names them', () => {
    const { ports: made, problems } = objectsOf(
      service({
        spec: {
          ports: [
            { port: 53, protocol: 'UDP' },
            { port: 80, protocol: 'TCP' },
          ],
        },
      }),
    )
    expect(made.map(({ port }) => port)).toEqual([80])
    expect(problems).toEqual([expect.stringContaining('spec.ports[0]: UDP')])
  })

  test('is nothing, with a problem that says why, if more ports are TCP than the administrator allows', () => {
    const tcp = Array.from({ length: 16 }, (_, index) => ({ port: 80 + index }))
    const udp = { port: 53, protocol: 'UDP' }
    expect(objectsOf(service({ spec: { ports: [udp, ...tcp] } })).ports).toHaveLength(16)
    const more = service({ spec: { ports: [...tcp, { port: 443, protocol: 'TCP' }] } })
    const why = /^spec\.ports: 17 TCP ports .* 16 .*: divide .* tunnels\.services\.maxPorts$/
    expect(foundFor(more)).toEqual({ refused: [expect.stringMatching(why)] })
    expect(foundFor(more, 17)).toMatchObject({ problems: [] })
  })
})

describe('the annotations of a Service', () => {
  test.each<[string, string]>([
    ['culvert.dev/domain', 'Shop.example.com'],
    ['culvert.dev/domain', '*.example.com'],
    ['culvert.dev/domain', 'shop'],
    ['culvert.dev/domain', '10.0.0.1'],
    ['culvert.dev/domain', ''],
    ['culvert.dev/ip-policies', ''],
    ['culvert.dev/ip-policies', 'office,'],
    ['culvert.dev/ip-policies', 'office lab'],
    ['culvert.dev/account', 'Secret/x'],
    ['culvert.dev/account', 'a/b/c'],
    ['culvert.dev/account', ''],
    ['culvert.dev/ignore-annotations', ''],
    ['culvert.dev/ignore-annotations', 'metallb.io/*'],
    ['culvert.dev/ignore-annotations', 'culvert.dev/ip-policies'],
  ])('%s: %j makes no sense, and the problem names both', (name, value) => {
    const found = settingsOf(service({ annotations: { [name]: value } }))
    expect(found).toEqual({
      problems: [expect.stringContaining(`metadata.annotations[${name}]: ${JSON.stringify(value)} `)],
    })
  })

  test('that may be meant to restrict and are unknown are refused', () => {
    for (const name of ['culvert.dev/ip-policy', 'culvert.dev/ignored-annotations']) {
      expect(settingsOf(service({ annotations: { [name]: 'x' } }))).toHaveProperty('problems')
    }
    expect(settingsOf(service({ spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } }))).toHaveProperty('problems')
    expect(settingsOf(service({ annotations: { 'example.com/any': 'x', 'culvert.dev/paused': 'false' } }))).toEqual({})
  })

  const aws = 'service.beta.kubernetes.io/aws-load-balancer-'
  const azure = 'service.beta.kubernetes.io/azure-'

  test.each([
    [`${azure}allowed-ip-ranges`, '192.168.0.1/32'],
    [`${azure}load-balancer-internal`, 'true'],
    [`${azure}allowed-service-tags`, 'AzureFrontDoor.Backend'],
    [`${aws}internal`, '0.0.0.0/0'],
    [`${aws}scheme`, 'internal'],
    // Its load balancers are internal unless a scheme is named.
    [`${aws}type`, 'external'],
    [`${aws}security-groups`, 'sg-1'],
    ['service.beta.kubernetes.io/load-balancer-source-ranges', '10.0.0.0/8'],
    ['networking.gke.io/load-balancer-type', 'Internal'],
    ['cloud.google.com/load-balancer-type', 'Internal'],
    ['cloud.google.com/backend-config', '{"default": "armor"}'],
    ['service.beta.kubernetes.io/oci-load-balancer-internal', 'true'],
    ['oci-network-load-balancer.oraclecloud.com/internal', 'true'],
    ['service.beta.kubernetes.io/do-loadbalancer-allow-rules', 'cidr:10.0.0.0/8'],
    ['service.beta.kubernetes.io/do-loadbalancer-network', 'INTERNAL'],
    ['service.beta.kubernetes.io/scw-loadbalancer-private', 'true'],
    ['service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type', 'intranet'],
    ['service.beta.kubernetes.io/openstack-internal-load-balancer', 'true'],
    ['service.kubernetes.io/ibm-load-balancer-cloud-provider-ip-type', 'private'],
    ['load-balancer.hetzner.cloud/disable-public-network', 'true'],
    ['metallb.io/address-pool', 'office'],
    ['service.beta.kubernetes.io/a-cloud-of-tomorrow', 'any'],
  ])('of another load balancer open nothing if they may restrict: %s: %s', (name, value) => {
    const of = (more: Readonly<Record<string, string>>) =>
      settingsOf(service({ annotations: { [name]: value, ...more } }))
    expect(of({})).toEqual({
      problems: [expect.stringContaining(`metadata.annotations[${name}]: ${JSON.stringify(value)} `)],
    })
    expect(of({ 'culvert.dev/ignore-annotations': 'example.com/any' })).toHaveProperty('problems')
    expect(of({ 'culvert.dev/ignore-annotations': `example.com/any, ${name}` })).toEqual({})
  })

  test.each<Readonly<Record<string, string>>>([
    { [`${azure}load-balancer-internal`]: 'false' },
    { [`${azure}dns-label-name`]: 'shop' },
    { [`${aws}internal`]: 'false' },
    { [`${aws}scheme`]: 'internet-facing', [`${aws}type`]: 'external', [`${aws}nlb-target-type`]: 'ip' },
    { [`${aws}type`]: 'nlb', [`${aws}healthcheck-path`]: '/ready' },
    { 'service.beta.kubernetes.io/load-balancer-source-ranges': '0.0.0.0/0, ::/0' },
    { 'cloud.google.com/neg': '{"ingress": true}', 'cloud.google.com/load-balancer-type': 'External' },
    { 'service.beta.kubernetes.io/do-loadbalancer-name': 'shop' },
    { 'load-balancer.hetzner.cloud/location': 'fsn1', 'load-balancer.hetzner.cloud/disable-public-network': 'false' },
    { 'metallb.io/ip-allocated-from-pool': 'office' },
    { 'service.kubernetes.io/topology-mode': 'Auto' },
    { 'external-dns.alpha.kubernetes.io/hostname': 'shop.example.com' },
  ])('of another load balancer are ignored if they restrict nothing: %o', (annotations) => {
    expect(settingsOf(service({ annotations }))).toEqual({})
  })

  test('never open what they name a policy for', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const found = settingsOf(service({ annotations: { 'culvert.dev/ip-policies': value } }))
        if ('problems' in found) return
        expect(found.ipPolicies?.length).toBeGreaterThan(0)
      }),
    )
  })
})
