import { type ClosableApiClient, createApiClient } from '../../src/api/client.ts'
import { RateBudget } from '../../src/api/rate-budget.ts'
import { type ManifestAt, parseManifestsAt } from '../../src/cli/manifests.ts'
import { makePlan, operatorOver, type Plan, type PlanRequest, prepareScene } from '../../src/cli/plan/make-plan.ts'
import { kinds } from '../../src/kinds/index.ts'
import { KindsRegistry } from '../../src/managed/kinds-registry.ts'
import { SpecAdmission } from '../../src/schema/admission.ts'
import type { WriteReport } from '../../src/telemetry/write-origin.ts'
import { systemClock as clock } from '../../src/util/clock.ts'
import { systemRandom as random } from '../../src/util/random.ts'
import { CONFIG_MAP, INPUTS, SECRET } from '../kinds/shared/account.ts'
import type { World } from './contract/world.ts'
import { createSilentLogger } from './silent-logger.ts'

/** A resource without anything that the planning needs around it. */
export interface BareManifest {
  readonly kind: string
  readonly name: string
  readonly spec: Readonly<Record<string, unknown>>
}

interface NamedTexts {
  readonly name: string
  readonly values: Readonly<Record<string, string>>
}

export const NAMESPACE = 'shop'

const registry = new KindsRegistry(kinds)
const admission = new SpecAdmission()

/** The manifests as if they had been read from one file. */
export function manifestsOf(resources: readonly BareManifest[]): readonly ManifestAt[] {
  const held = (kind: string, { name, values }: NamedTexts, field: string) => {
    return { apiVersion: 'v1', kind, metadata: { name, namespace: NAMESPACE }, [field]: values }
  }
  const documents = [
    held('Secret', SECRET, 'stringData'),
    held('ConfigMap', CONFIG_MAP, 'data'),
    // Those of generated specs.
    ...['inputs', 'others'].flatMap((name) => [
      held('Secret', { name, values: INPUTS }, 'stringData'),
      held('ConfigMap', { name, values: INPUTS }, 'data'),
    ]),
    ...resources.map(({ kind, name, spec }) => {
      return { apiVersion: 'culvert.dev/v1alpha1', kind, metadata: { name, namespace: NAMESPACE }, spec }
    }),
  ]
  return parseManifestsAt(documents.map((each) => JSON.stringify(each)).join('\n---\n'), 'test.yaml')
}

/** Plans for the account of an emulator, and an operator that carries manifests out there. */
export class Planning {
  readonly #world: World
  readonly #client: ClosableApiClient
  /** Every write that reached the API since the last call of `apply`. */
  #written: WriteReport[] = []

  constructor(world: World) {
    this.#world = world
    this.#client = createApiClient({
      baseURL: world.url,
      apiKey: () => world.apiKey,
      budget: new RateBudget({ clock, random }),
      clock,
      random,
      beforeWrite: () => undefined,
      onWrite: (report) => this.#written.push(report),
      userAgent: 'test',
    })
  }

  /** Reads the account. */
  get reader(): Pick<ClosableApiClient, 'list'> {
    return this.#client
  }

  /** @param account the one to plan for. Default: all, which must have one address */
  plan(manifests: readonly ManifestAt[], account?: string): Promise<Plan> {
    return makePlan({ ...this.#request(manifests), account })
  }

  /** The operator's own code carries the manifests out. @returns the writes that it sent, in their order */
  async apply(manifests: readonly ManifestAt[]): Promise<readonly WriteReport[]> {
    this.#written = []
    const request = this.#request(manifests)
    const scene = await prepareScene(request)
    const account = { client: this.#client, writesSent: () => this.#written.length }
    await operatorOver(request, scene, account).run()
    return this.#written
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  #request(manifests: readonly ManifestAt[]): PlanRequest {
    const { url: baseURL, apiKey } = this.#world
    return {
      kinds: registry,
      admission,
      manifests,
      namespace: NAMESPACE,
      config: {
        baseURL,
        apiKey,
        versionHeader: 'Service-Version',
        caBundle: undefined,
        requestsPerMinute: undefined,
        burst: undefined,
      },
      reader: this.#client,
      logger: createSilentLogger(),
    }
  }
}
