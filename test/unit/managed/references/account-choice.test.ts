import { describe, expect, test } from 'vitest'
import { kinds } from '../../../../src/kinds/index.ts'
import { type AccountName, formatAttempt } from '../../../../src/managed/attempt.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'
import { CREATE_ATTEMPT } from '../../../../src/managed/names.ts'
import { accountOf, openSession } from '../../../../src/managed/references/account-choice.ts'
import type { MemberSession } from '../../../../src/managed/run/session.ts'
import { cr } from '../../../builders/custom-resource.ts'

const TEAM = { kind: 'Account', name: 'team' } as const
const DEFAULT = { kind: 'Account', name: 'default' } as const

const rule = (fields: Partial<CustomResource> = {}, spec: Readonly<Record<string, unknown>> = {}): CustomResource => ({
  ...cr({}, {}, { ipPolicyRef: { name: 'office' }, cidr: '10.0.0.0/8', action: 'Allow', ...spec }),
  kind: 'IPPolicyRule',
  ...fields,
})
const policy = (used?: AccountName, accountRef?: { readonly name: string }): CustomResource => ({
  ...cr({ name: 'office' }, used && { accountRef: used }, accountRef && { accountRef }),
  kind: 'IPPolicy',
})

function contextOf(others: readonly CustomResource[], hasDefault = true) {
  return {
    kinds: new KindsRegistry(kinds),
    resources: {
      get: ({ kind, namespace, name }: { kind: string; namespace?: string | undefined; name: string }) =>
        others.find((one) => one.kind === kind && one.metadata.namespace === namespace && one.metadata.name === name),
      namespace: () => undefined,
      hasAccount: ({ kind, name }: { kind: string; name: string }) =>
        hasDefault && kind === 'Account' && name === 'default',
    },
    accounts: {
      session: () => ({ cache: {}, blocked: () => undefined, turn: () => undefined }) as unknown as MemberSession,
    },
  }
}

function refusalOf(subject: CustomResource, others: readonly CustomResource[], hasDefault = true): string {
  try {
    openSession(contextOf(others, hasDefault), subject)
    return 'none'
  } catch (error) {
    const { code, message } = error as { readonly code: string; readonly message: string }
    return `${code}: ${message}`
  }
}

describe('a resource whose target decides about its account', () => {
  test.each([
    ['that was used', policy(TEAM)],
    ['that is named', policy(undefined, { name: 'team' })],
  ])('lives in the account of the target %s, whatever the default is', (_what, target) => {
    expect(accountOf(contextOf([target]), rule())).toEqual(TEAM)
  })

  test('chooses for itself where it names the target by its id', () => {
    const byId = { ipPolicyRef: { id: 'ipp_1' } }
    const context = contextOf([policy(TEAM)])
    expect(accountOf(context, rule({}, byId))).toEqual(DEFAULT)
    expect(accountOf(context, rule({}, { ...byId, accountRef: { name: 'team' } }))).toEqual(TEAM)
  })

  test('waits for a target that does not exist, and names it', () => {
    expect(accountOf(contextOf([]), rule())).toBeUndefined()
    expect(refusalOf(rule(), [])).toBe(
      'ReferenceNotReady: spec.ipPolicyRef: IPPolicy/office does not exist: create it or correct the name',
    )
  })

  test('waits for the account of the target, and says where it is named', () => {
    const refusal = refusalOf(rule(), [policy()], false)
    expect(refusal).toContain('AccountNotReady: there is no account')
    expect(refusal).toContain('set spec.accountRef of IPPolicy/office')
  })

  test('is refused once the target lives elsewhere than its object', () => {
    const made = rule({ status: { id: 'ipr_1', accountRef: TEAM } })
    expect(refusalOf(made, [policy(TEAM)])).toBe('none')
    const refusal = refusalOf(made, [policy({ kind: 'ClusterAccount', name: 'team' })])
    expect(refusal).toContain('InvalidSpec: spec.ipPolicyRef: IPPolicy/office lives in ClusterAccount/team')
  })

  test('stays where its object is while the target is away', () => {
    expect(accountOf(contextOf([]), rule({ status: { id: 'ipr_1', accountRef: TEAM } }))).toEqual(TEAM)
  })

  test('is deleted where it was last made when its status and the target are gone', () => {
    const attempt = formatAttempt({ uid: 'before', number: 1, nonce: '0123456789abcdef', account: TEAM })
    const metadata = { ...rule().metadata, annotations: { [CREATE_ATTEMPT]: attempt } }
    expect(accountOf(contextOf([]), rule({ metadata }))).toBeUndefined()
    const deleting = { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
    expect(accountOf(contextOf([]), rule({ metadata: deleting }))).toEqual(TEAM)
  })
})
