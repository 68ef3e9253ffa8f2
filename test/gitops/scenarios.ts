import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { printedCommand, runPrinted } from '../cluster/support/printed-command.ts'
import { until } from '../cluster/support/wait.ts'
import { conditionOf, type Resource, type World, type WorldOptions } from '../cluster/support/world.ts'
import { manifest, quickstart } from './manifests.ts'
import type { Stage } from './stage.ts'
import type { Files } from './tools/repository.ts'
import type { ToolName } from './tools/tool.ts'

/** Something that happens, and what the tools show then. */
export interface Step {
  /** A row of the table. */
  readonly when: string
  readonly act?: (stage: Stage) => Promise<void>
  readonly shows: Readonly<Record<ToolName, string>>
  /** What else is true then. */
  readonly holds?: (stage: Stage) => Promise<void>
}

/** The life of a repository, from its first commit on. */
export interface Scenario {
  readonly title: string
  readonly world?: WorldOptions
  readonly files: (world: World) => Promise<Files>
  readonly steps: readonly Step[]
}

/** How long nothing may be written in a row. */
const REST_SECONDS = Number(process.env.CULVERT_REST_SECONDS ?? 60)

const READY = { Flux: 'Ready: True, ReconciliationSucceeded', 'Argo CD': 'Synced, Healthy' }
const GONE = { Flux: 'gone', 'Argo CD': 'gone' }
const FAILED = { Flux: 'Ready: False, HealthCheckFailed', 'Argo CD': 'Synced, Degraded' }
const UNFINISHED = { Flux: 'Ready: False, HealthCheckFailed', 'Argo CD': 'Synced, Progressing' }

const RULES = [{ cidr: '198.51.100.0/24', action: 'Allow' }]
const policy = (spec: object = {}): string => manifest('IPPolicy', 'office', { rules: RULES, ...spec })
const restriction = manifest('IPRestriction', 'dashboard', { type: 'Dashboard', ipPolicyRefs: [{ name: 'office' }] })
const address = manifest('ReservedAddress', 'database', {})
const shop = async (): Promise<Files> => ({ 'office.yaml': policy(), 'dashboard.yaml': restriction })
const edited: Files = { 'office.yaml': policy({ description: 'edited' }) }

const sync = (stage: Stage): Promise<void> => stage.delivery.sync()

/** The API's object of the policy, or undefined. */
async function remotePolicy({ world }: Stage): Promise<Readonly<Record<string, unknown>> | undefined> {
  return (await world.remote('ip_policies'))[0]
}

async function expectDescription(stage: Stage, description: string): Promise<void> {
  expect((await remotePolicy(stage))?.description).toBe(description)
}

async function refuseUpdates({ world }: Stage): Promise<void> {
  const match = { method: 'PATCH', path: '/ip_policies/**', every: true }
  world.emulator.admin.addFault({ match, act: { type: 'status', status: 400 } })
}

async function untilNoObjects({ world }: Stage): Promise<void> {
  for (const path of ['ip_policies', 'ip_restrictions']) {
    await until(`/${path} is empty`, async () => (await world.remote(path)).length === 0)
  }
}

async function expectTerminating({ world }: Stage): Promise<void> {
  const found = await world.get('IPPolicy', 'office')
  expect(found?.metadata.deletionTimestamp).toBeDefined()
}

const PAUSE = 'culvert.dev/paused=true'

/** The annotation by which the policy is paused, if it is. */
async function pausedBy({ world }: Stage): Promise<string | undefined> {
  return (await world.get('IPPolicy', 'office'))?.metadata.annotations?.['culvert.dev/paused']
}

export const scenarios: readonly Scenario[] = [
  {
    title: 'Installation',
    world: { setUp: false },
    files: quickstart,
    steps: [
      { when: 'the quickstart is committed', shows: READY, holds: (stage) => stage.quietFromNow() },
      {
        when: 'the tool looks at the same commit again',
        act: sync,
        shows: READY,
        holds: (stage) => stage.expectQuiet(),
      },
      {
        when: 'nothing happens for a while',
        act: async (stage) => {
          await stage.quietFromNow()
          await sleep(REST_SECONDS * 1000)
        },
        shows: READY,
        holds: (stage) => stage.expectQuiet(),
      },
    ],
  },
  {
    title: 'Edits',
    files: shop,
    steps: [
      { when: 'a policy and its use are committed', shows: READY },
      {
        when: 'the policy is edited',
        act: (stage) => stage.commit(edited),
        shows: READY,
        holds: (stage) => expectDescription(stage, 'edited'),
      },
      {
        when: 'an edit violates the CRD',
        act: (stage) => stage.commit({ 'office.yaml': policy({ rules: [{ cidr: 'everywhere', action: 'Allow' }] }) }),
        shows: { Flux: 'Ready: False, ReconciliationFailed', 'Argo CD': 'OutOfSync, Healthy, Failed' },
        holds: (stage) => expectDescription(stage, 'edited'),
      },
      {
        when: 'the commit is reverted',
        act: (stage) => stage.revert(),
        // Nothing has to be synced, so the failed sync remains the last one.
        shows: { ...READY, 'Argo CD': 'Synced, Healthy, Failed' },
      },
      {
        when: 'the API refuses an edit',
        act: async (stage) => {
          await refuseUpdates(stage)
          await stage.commit({ 'office.yaml': policy({ description: 'refused' }) })
        },
        shows: FAILED,
        holds: (stage) => expectDescription(stage, 'edited'),
      },
      {
        when: 'the commit is reverted',
        act: (stage) => stage.revert(),
        shows: READY,
        holds: (stage) => expectDescription(stage, 'edited'),
      },
    ],
  },
  {
    title: 'Suspension',
    files: shop,
    steps: [
      { when: 'a policy and its use are committed', shows: READY },
      {
        when: 'the tool is suspended, and the policy is edited',
        act: async (stage) => {
          await stage.delivery.suspend(true)
          await stage.commit(edited)
        },
        shows: { Flux: 'suspended', 'Argo CD': 'OutOfSync, Healthy' },
        holds: (stage) => expectDescription(stage, ''),
      },
      {
        when: 'the tool is resumed',
        act: async (stage) => {
          await stage.delivery.suspend(false)
          await stage.delivery.sync()
        },
        shows: READY,
        holds: (stage) => expectDescription(stage, 'edited'),
      },
    ],
  },
  {
    title: 'Pruning',
    files: async () => ({ ...(await shop()), 'database.yaml': address }),
    steps: [
      { when: 'a policy, its use and an address are committed', shows: READY },
      {
        when: 'the address is removed',
        act: (stage) => stage.commit({ 'database.yaml': null }),
        shows: READY,
        holds: async ({ world }) => {
          await world.gone('ReservedAddress', 'database')
          expect(await world.remote('reserved_addrs')).toEqual([])
        },
      },
      {
        when: 'the policy is removed, but not its use',
        act: (stage) => stage.commit({ 'office.yaml': null }),
        shows: { Flux: READY.Flux, 'Argo CD': 'OutOfSync, Progressing' },
        holds: async (stage) => {
          await expectTerminating(stage)
          expect(await remotePolicy(stage)).toBeDefined()
        },
      },
      {
        when: 'the commit is reverted',
        act: (stage) => stage.revert(),
        shows: UNFINISHED,
        holds: expectTerminating,
      },
      {
        when: 'the command of the condition is run',
        act: async (stage) => {
          const { id } = (await remotePolicy(stage)) ?? {}
          const message = conditionOf(await stage.world.get('IPPolicy', 'office'), 'Ready')?.message ?? ''
          await runPrinted(printedCommand(message), stage.world.kubeconfig)
          await stage.world.until('IPPolicy', 'office', 'is created again', ({ metadata }) => {
            return metadata.deletionTimestamp === undefined
          })
          expect((await stage.world.ready('IPPolicy', 'office')).status?.id).toBe(id)
        },
        shows: READY,
        holds: async (stage) => expect(await stage.world.remote('ip_policies')).toHaveLength(1),
      },
    ],
  },
  {
    title: 'Changes by hand',
    files: shop,
    steps: [
      { when: 'a policy and its use are committed', shows: READY },
      {
        when: 'somebody edits the policy with kubectl',
        act: async (stage) => {
          const patch = JSON.stringify({ spec: { rules: [{ cidr: '0.0.0.0/0', action: 'Allow' }] } })
          await stage.kubectl('patch', 'ippolicy', 'office', '--type=merge', '-p', patch)
          await stage.delivery.sync()
          const isBack = ({ spec }: Resource): boolean => isDeepStrictEqual(spec.rules, RULES)
          await stage.world.until('IPPolicy', 'office', 'has its rules again', isBack)
        },
        shows: READY,
      },
      {
        when: 'somebody pauses the policy: kubectl sets the annotation',
        act: async (stage) => {
          await stage.kubectl('annotate', 'ippolicy', 'office', PAUSE)
          await stage.delivery.sync()
        },
        shows: { Flux: READY.Flux, 'Argo CD': 'Synced, Suspended' },
        holds: async (stage) => {
          expect(await pausedBy(stage)).toBe(stage.tool.name === 'Flux' ? undefined : 'true')
        },
      },
      {
        when: 'the same with --field-manager=culvert-user',
        act: async (stage) => {
          await stage.kubectl('annotate', 'ippolicy', 'office', PAUSE, '--field-manager=culvert-user', '--overwrite')
          await stage.delivery.sync()
        },
        shows: { Flux: READY.Flux, 'Argo CD': 'Synced, Suspended' },
        holds: async (stage) => expect(await pausedBy(stage)).toBe('true'),
      },
    ],
  },
  {
    title: 'Operator down',
    files: shop,
    steps: [
      { when: 'a policy and its use are committed', shows: READY },
      {
        when: 'the operator stops, and the policy is edited',
        act: async (stage) => {
          await stage.world.operator.kill()
          await stage.commit(edited)
        },
        shows: UNFINISHED,
      },
      {
        when: 'the operator starts',
        act: async ({ world }) => {
          await world.startOperator()
        },
        shows: READY,
        holds: (stage) => expectDescription(stage, 'edited'),
      },
    ],
  },
  {
    title: 'API key',
    world: { setUp: false },
    files: async (world) => {
      await world.setKey(world.emulator.apiKey)
      const account = { baseURL: world.emulator.url, apiKeySecretRef: { name: 'credentials' } }
      return { ...(await shop()), 'account.yaml': manifest('Account', 'default', account) }
    },
    steps: [
      { when: 'an account, a policy and its use are committed', shows: READY },
      {
        when: 'the key is exchanged for another of the same account',
        act: async ({ world, delivery }) => {
          const { body } = await world.api.post('/api_keys', { description: 'next' })
          await world.setKey(String(body.token))
          await delivery.sync()
        },
        shows: READY,
      },
      {
        when: 'the key is exchanged for an invalid one',
        act: async ({ world, delivery }) => {
          await world.setKey('no-such-key')
          await world.reason('Account', 'default', 'Stalled', 'Unauthorized')
          await delivery.sync()
        },
        shows: FAILED,
      },
      {
        when: 'the former key is back',
        act: async ({ world, delivery }) => {
          await world.setKey(world.emulator.apiKey)
          await world.reason('Account', 'default', 'Ready', 'Available')
          await delivery.sync()
        },
        shows: READY,
      },
    ],
  },
  {
    title: 'Adoption',
    files: async ({ api }) => {
      const { body } = await api.post('/ip_policies', { description: 'by hand' })
      return { 'office.yaml': policy({ externalID: body.id, managementPolicy: 'Observe' }) }
    },
    steps: [
      {
        when: 'an existing object is observed',
        shows: READY,
        holds: (stage) => expectDescription(stage, 'by hand'),
      },
      {
        when: 'it is adopted, with another description',
        act: async (stage) => {
          const adopted = { externalID: (await remotePolicy(stage))?.id, managementPolicy: 'Manage' }
          await stage.commit({ 'office.yaml': policy({ ...adopted, description: 'adopted' }) })
        },
        shows: READY,
        holds: (stage) => expectDescription(stage, 'adopted'),
      },
      {
        when: 'it is removed from the repository',
        act: (stage) => stage.commit({ 'office.yaml': null, 'database.yaml': address }),
        shows: READY,
        holds: async (stage) => {
          await stage.world.gone('IPPolicy', 'office')
          await expectDescription(stage, 'adopted')
        },
      },
    ],
  },
  {
    title: 'Approval',
    files: async () => ({ 'office.yaml': policy({ managementPolicy: 'Plan' }) }),
    steps: [
      {
        when: 'a policy with managementPolicy: Plan is committed',
        shows: UNFINISHED,
        holds: async (stage) => expect(await remotePolicy(stage)).toBeUndefined(),
      },
      {
        when: 'its plan is approved',
        act: async ({ world }) => {
          const { status } = (await world.get('IPPolicy', 'office')) ?? {}
          const { hash = '' } = (status?.plan ?? {}) as { readonly hash?: string }
          await world.annotate('IPPolicy', 'office', { 'culvert.dev/approved-plan': hash })
        },
        shows: READY,
        holds: async (stage) => expect(await remotePolicy(stage)).toBeDefined(),
      },
    ],
  },
  {
    title: 'Deletion',
    files: shop,
    steps: [
      { when: 'a policy and its use are committed', shows: READY },
      {
        when: "the tool's object is deleted",
        act: ({ delivery }) => delivery.remove(),
        shows: GONE,
        holds: untilNoObjects,
      },
    ],
  },
  {
    title: 'Deletion without operator',
    files: shop,
    steps: [
      { when: 'a policy and its use are committed', shows: READY },
      {
        when: "the operator stops, and the tool's object is deleted",
        act: async ({ world, delivery }) => {
          await world.operator.kill()
          await delivery.remove()
        },
        shows: { Flux: 'gone', 'Argo CD': 'Synced, Progressing' },
        holds: async (stage) => expect(await remotePolicy(stage)).toBeDefined(),
      },
      {
        when: 'the operator starts',
        act: async ({ world }) => {
          await world.startOperator()
        },
        shows: GONE,
        holds: untilNoObjects,
      },
    ],
  },
]
