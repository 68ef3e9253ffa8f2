import { describe, expect, test } from 'vitest'
import type { CreateOptions, KubeObject, ObjectKey, PatchOptions, ResourceType } from '../../../../src/kube/types.ts'
import { OwnedObjects } from '../../../../src/managed/composed/owned-objects.ts'
import { templateDigest } from '../../../../src/managed/composed/stored-template.ts'
import { tunnelObjects } from '../../../../src/managed/tunnels/objects.ts'
import type { TunnelFacts } from '../../../../src/managed/tunnels/pod.ts'
import { deploymentType } from '../../../../src/managed/tunnels/tunnel-resource.ts'
import { applyMergePatch } from '../../../../src/util/json.ts'
import { FakeClock } from '../../../builders/fake-clock.ts'
import { ModelKube } from '../../../builders/model-kube.ts'

const OWNER: KubeObject = {
  apiVersion: 'culvert.dev/v1alpha1',
  kind: 'Tunnel',
  metadata: { namespace: 'store', name: 'shop', uid: 'uid-1', resourceVersion: '1' },
}
const FACTS: TunnelFacts = {
  name: 'shop',
  namespace: 'store',
  labels: { app: 'shop' },
  key: { secret: 'shop-tunnel-key-1', key: 'id_ed25519' },
  agent: { type: 'own', image: 'culvert:1', gateway: { address: 'ssh.example.com:22', hostKeys: [] } },
}
const KEY = { namespace: 'store', name: 'shop-tunnel' }

type Fields = Readonly<Record<string, unknown>>
interface Pods {
  readonly metadata: { readonly labels: Fields; readonly annotations?: Fields }
  readonly spec: Fields & { readonly containers: readonly (Fields & { readonly name: string })[] }
}

/** Defaults of the API server, and one that it computes from other fields. */
const DEFAULTS = { dnsPolicy: 'ClusterFirst', restartPolicy: 'Always' }

/** A Deployment kept as the reconciler keeps it, on an API server that sets defaults, behind a webhook. */
class Kept {
  readonly kube = new ModelKube()
  readonly writes: Fields[] = []
  /** As `status.internal.template`. */
  written: string | undefined
  /** What the watch shows if it is behind. */
  stale: KubeObject | undefined
  readonly #webhook: (pods: Pods) => Pods
  readonly #objects: OwnedObjects

  constructor(webhook: (pods: Pods) => Pods = (pods) => pods) {
    this.#webhook = webhook
    const { kube, writes } = this
    this.#objects = new OwnedObjects({
      readOwner: () => Promise.resolve(OWNER),
      clock: new FakeClock(),
      known: (type, key) => this.stale ?? kube.get(type, key),
      record: () => undefined,
      kube: {
        get: async <T extends KubeObject>(type: ResourceType, key: ObjectKey) => kube.get<T>(type, key),
        create: async <T extends KubeObject>(type: ResourceType, key: ObjectKey, body: Fields, _?: CreateOptions) => {
          writes.push(body)
          return kube.create<T>(type, key, this.#admitted(body))
        },
        mergePatch: async <T extends KubeObject>(
          type: ResourceType,
          key: ObjectKey,
          patch: Fields,
          options?: PatchOptions,
        ) => {
          writes.push(patch)
          return kube.mergePatch<T>(type, key, patch, options, (object) => this.#admitted(object) as KubeObject)
        },
        delete: () => Promise.reject(new Error('nothing is deleted')),
      },
    })
  }

  #admitted(object: Fields): Fields {
    const { spec } = object as { readonly spec: Fields & { readonly template: Pods } }
    const { metadata, spec: pods } = spec.template
    return { ...object, spec: { ...spec, template: this.#webhook({ metadata, spec: { ...DEFAULTS, ...pods } }) } }
  }

  async keep(image = 'culvert:1'): Promise<number> {
    this.writes.length = 0
    const agent = { ...FACTS.agent, image } as TunnelFacts['agent']
    for (const wanted of tunnelObjects(
      { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } },
      { ...FACTS, agent },
    )) {
      if (wanted.type !== deploymentType) continue
      this.written = templateDigest(await this.#objects.keep(OWNER, wanted, this.written))
    }
    return this.writes.length
  }

  get pods(): Pods {
    const { spec } = this.kube.get(deploymentType, KEY) as KubeObject & { readonly spec: { readonly template: Pods } }
    return spec.template
  }

  /** Changes the Pods as an editor does, past the webhook. */
  edit(template: Fields): void {
    const { spec } = applyMergePatch(this.kube.get(deploymentType, KEY), { spec: { template } }) as { spec: Fields }
    this.kube.mergePatch(deploymentType, KEY, { spec })
  }
}

describe('the Pod template of agents', () => {
  test.each<[string, (pods: Pods) => Fields]>([
    ['the network of the host', () => ({ spec: { hostNetwork: true } })],
    ['a container', ({ spec }) => ({ spec: { containers: [...spec.containers, { name: 'side', image: 'side:1' }] } })],
    [
      'a field of the container',
      ({ spec }) => ({ spec: { containers: spec.containers.map((one) => ({ ...one, command: ['sh'] })) } }),
    ],
    ['a label', () => ({ metadata: { labels: { team: 'shop' } } })],
    ['an annotation', () => ({ metadata: { annotations: { 'example.com/inject': 'yes' } } })],
    ['a restart at no time', () => ({ metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'x' } } })],
    ['another default', () => ({ spec: { dnsPolicy: 'Default' } })],
  ])('loses what somebody else adds, by one write: %s', async (_what, change) => {
    const kept = new Kept()
    expect(await kept.keep()).toBe(1)
    const before = kept.pods
    expect(await kept.keep()).toBe(0)
    kept.edit(change(before))
    expect(kept.pods).not.toEqual(before)
    expect(await kept.keep()).toBe(1)
    expect(kept.pods).toEqual(before)
    expect(await kept.keep()).toBe(0)
  })

  test('keeps the time of a restart, also when it is replaced', async () => {
    const kept = new Kept()
    await kept.keep()
    const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-01-02T03:04:05+01:00' }
    kept.edit({ metadata: { annotations } })
    expect(await kept.keep()).toBe(0)
    kept.edit({ spec: { hostNetwork: true } })
    expect(await kept.keep()).toBe(1)
    expect(await kept.keep('culvert:2')).toBe(1)
    expect(kept.pods.metadata.annotations).toEqual(annotations)
    expect(kept.pods.spec).not.toHaveProperty('hostNetwork')
    expect(await kept.keep('culvert:2')).toBe(0)
  })

  test('keeps what a webhook adds to each write, without writing again', async () => {
    let writes = 0
    const kept = new Kept(({ metadata, spec }) => ({
      metadata: { ...metadata, labels: { ...metadata.labels, injected: String(++writes) } },
      spec: {
        ...spec,
        tolerations: [{ key: 'edge', operator: 'Exists' }],
        containers: [...spec.containers.filter(({ name }) => name === 'agent'), { name: 'side', image: 'side:1' }],
      },
    }))
    expect(await kept.keep()).toBe(1)
    expect(await kept.keep()).toBe(0)
    expect(kept.pods.spec.containers).toHaveLength(2)
    kept.edit({ spec: { hostNetwork: true } })
    expect(await kept.keep()).toBe(1)
    expect(await kept.keep()).toBe(0)
    expect(kept.pods.spec).not.toHaveProperty('hostNetwork')
  })

  test('is written once if nothing is known of the last write, as after an upgrade', async () => {
    const kept = new Kept()
    await kept.keep()
    const { metadata } = kept.kube.get(deploymentType, KEY) ?? OWNER
    kept.written = undefined
    expect(await kept.keep()).toBe(1)
    expect(kept.kube.get(deploymentType, KEY)?.metadata).toEqual(metadata)
    expect(await kept.keep()).toBe(0)
  })

  test('is not replaced over a change that was not seen', async () => {
    const kept = new Kept()
    await kept.keep()
    kept.stale = kept.kube.get(deploymentType, KEY)
    kept.edit({ spec: { hostNetwork: true } })
    await expect(kept.keep('culvert:2')).rejects.toMatchObject({ code: 'Conflict' })
  })
})
