import { describe, expect, test } from 'vitest'
import { kinds } from '../../../../src/kinds/index.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { type UnmanagedObjects, unmanagedObjects } from '../../../../src/managed/descriptor/access.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'
import { REMOTE_ID } from '../../../../src/managed/names.ts'
import { keeperOf, refusalOfUse, refuseUse } from '../../../../src/managed/references/reach.ts'
import type { ManagedContext } from '../../../../src/managed/run/context.ts'
import type { MemberSession } from '../../../../src/managed/run/session.ts'
import { cr, marked } from '../../../builders/custom-resource.ts'

describe('an object named by its id', () => {
  const asks = ['Reference', 'Adopt'] as const
  const cases = unmanagedObjects.flatMap((allowed) => {
    return asks.flatMap((asked) => ['shop', 'blog', undefined].map((keeper) => ({ allowed, asked, keeper })))
  })

  test.each(cases)('of $keeper, asked for $asked under $allowed', ({ allowed, asked, keeper }) => {
    const isEnough = unmanagedObjects.indexOf(allowed) >= unmanagedObjects.indexOf(asked)
    const others = keeper === undefined ? undefined : 'kept elsewhere'
    const expected = keeper === 'shop' ? undefined : isEnough ? others : 'unmanaged'
    expect(refusalOfUse({ namespace: 'shop', keeper, allowed, asked })).toBe(expected)
  })

  const said = (keeper: string | undefined, level: UnmanagedObjects): string => {
    const session = {
      account: { kind: 'ClusterAccount', name: 'edge' },
      access: { granted: [], unmanagedObjects: level },
    } as const
    const named = { path: 'spec.backend.id', id: 'bkd_1', asked: 'Reference' } as const
    try {
      refuseUse(session, 'shop', keeper, named)
      return ''
    } catch (error) {
      return `${(error as { readonly code: string }).code}: ${(error as Error).message}`
    }
  }

  test('is reported by field, value and remedy, and by no other namespace', () => {
    expect(said('blog', 'Deny')).toBe(
      'ReferenceNotPermitted: spec.backend.id: bkd_1 belongs to no resource in namespace shop, and ClusterAccount/edge does not allow that namespace to use other objects: ' +
        'refer to the resource by name or, in another namespace, by namespace and name if its spec.allowedReferences permits it, or have its administrator set unmanagedObjects: Reference in an entry of spec.access that allows this kind',
    )
    expect(said(undefined, 'Deny')).toBe(said('blog', 'Deny'))
    expect(said('blog', 'Reference')).toMatch(
      /^ReferenceNotPermitted: spec\.backend\.id: bkd_1 is managed by a resource in another namespace/,
    )
    expect(said('blog', 'Reference')).not.toContain('blog')
  })
})

describe('who has an object', () => {
  const key = { kind: 'ClusterAccount', name: 'edge' } as const
  const elsewhere = { namespace: 'blog', uid: 'theirs' }
  const mine = cr(
    { name: 'forged', uid: 'forger' },
    { id: 'bkdtg_1', internal: { create: { nonce: 'n', attempt: 1 } } },
  )

  function keeper(about: {
    readonly object?: { readonly id: string; readonly metadata?: unknown }
    readonly there?: CustomResource
    readonly holder?: CustomResource
    readonly noter?: CustomResource
    readonly whole?: CustomResource
  }): string | undefined {
    const resources = {
      get: () => about.there,
      holderOf: () => about.holder,
      noterOf: () => about.noter,
      childHolderOf: () => about.whole,
    }
    const context = { installation: 'here', kinds: new KindsRegistry(kinds), resources } as unknown as ManagedContext
    const known = about.object === undefined ? undefined : { object: about.object }
    const session = { key, cache: { get: () => known }, seal: () => 'sealed' } as unknown as MemberSession
    return keeperOf(context, session, 'Backend', 'bkdtg_1')?.metadata.uid
  }

  const theirs = cr(elsewhere)
  const object = marked('bkdtg_1', elsewhere)
  const noter = (seal: string) => cr({ ...elsewhere, annotations: { [REMOTE_ID]: `blog/web/theirs/bkdtg_1/${seal}` } })

  test('is nobody without any sign', () => expect(keeper({})).toBeUndefined())
  test('is whom its mark names, whatever a status says, and though no status does yet', () => {
    expect(keeper({ object, there: theirs, holder: mine })).toBe('theirs')
    expect(keeper({ object, there: theirs })).toBe('theirs')
  })
  test('is not whom the mark of another installation, or of a resource that is gone, names', () => {
    expect(
      keeper({ object: marked('bkdtg_1', { ...elsewhere, installation: 'there' }), there: theirs }),
    ).toBeUndefined()
    expect(keeper({ object })).toBeUndefined()
    expect(keeper({ object, there: cr({ ...elsewhere, uid: 'again' }) })).toBeUndefined()
  })
  test('is who says so by a sealed note, and not by one that was made up', () => {
    expect(keeper({ noter: noter('sealed'), holder: mine })).toBe('theirs')
    expect(keeper({ noter: noter('made-up'), holder: mine })).toBe('forger')
  })
  test('is who holds what it is a part of', () => expect(keeper({ whole: theirs })).toBe('theirs'))
  test('is not who only observes it', () => {
    const observer = cr(elsewhere, { id: 'bkdtg_1' }, { externalID: 'bkdtg_1', managementPolicy: 'Observe' })
    expect(keeper({ holder: observer })).toBeUndefined()
  })
  test('is who is about to adopt it', () => {
    expect(keeper({ holder: cr(elsewhere, {}, { externalID: 'bkdtg_1', managementPolicy: 'Manage' }) })).toBe('theirs')
  })
})
