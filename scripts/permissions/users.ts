import type { Reach } from '../../src/managed/descriptor/access.ts'
import { type KindsRegistry, resourceTypeOf } from '../../src/managed/kinds-registry.ts'
import type { Permission, Verb } from '../../src/managed/permissions.ts'

/** Roles for users, each aggregated to the Kubernetes role of the same name. */
export interface UserRoles {
  readonly view: readonly Permission[]
  readonly edit: readonly Permission[]
  readonly admin: readonly Permission[]
}

const READ: readonly Verb[] = ['get', 'list', 'watch']
const WRITE: readonly Verb[] = ['create', 'update', 'patch', 'delete', 'deletecollection']

/**
 * Viewers see every kind. Editors write kinds that reach no further than the namespace. Administrators of a namespace
 * also write those that affect the whole account, and accounts, and approve plans. What only Culvert writes, no user
 * role may write.
 */
export function userRoles({ managed, commands, composed, accounts, mirrors }: KindsRegistry): UserRoles {
  const of = (descriptors: Parameters<typeof resourceTypeOf>[0][], verbs: readonly Verb[], why: string) => {
    return descriptors.map((descriptor) => ({ type: resourceTypeOf(descriptor), verbs, why }))
  }
  const within = (reach: Reach) =>
    [...managed, ...commands, ...composed].filter((descriptor) => descriptor.reach === reach)
  const scaled = (verbs: readonly Verb[]): readonly Permission[] => {
    return composed
      .filter(({ definition }) => definition.scale !== undefined)
      .map((descriptor) => ({
        type: resourceTypeOf(descriptor),
        subresource: 'scale',
        verbs,
        why: 'For `kubectl scale`, and for what people run to scale it.',
      }))
  }
  const edited = [
    ...of(within('namespace'), WRITE, 'People write what has to be at the API.'),
    ...scaled(['get', 'update', 'patch']),
  ]
  return {
    view: [
      ...of([...accounts, ...managed, ...mirrors, ...commands, ...composed], READ, 'No kind holds a secret.'),
      ...scaled(['get']),
    ],
    edit: edited,
    admin: [
      ...edited,
      ...of(within('account'), WRITE, 'They open, close or watch the account as a whole, or what others have in it.'),
      ...of([...accounts], WRITE, 'An account decides where calls go, and with which key.'),
      ...of([...managed], ['approve'], 'Users who may only edit a resource do not approve its plan.'),
    ],
  }
}
