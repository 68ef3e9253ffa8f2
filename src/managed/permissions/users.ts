import type { Reach } from '../descriptor/access.ts'
import { type KindsRegistry, resourceTypeOf } from '../kinds-registry.ts'
import type { Permission, Verb } from './rules.ts'

/** Roles for people, each to be added to the one of the same name that Kubernetes has. */
export interface UserRoles {
  readonly view: readonly Permission[]
  readonly edit: readonly Permission[]
  readonly admin: readonly Permission[]
}

const READ: readonly Verb[] = ['get', 'list', 'watch']
const WRITE: readonly Verb[] = ['create', 'update', 'patch', 'delete', 'deletecollection']

/**
 * Who may view sees every kind; who may edit writes what reaches no further than the namespace; who administers a
 * namespace also what concerns the whole account, and accounts. What Culvert alone writes is nobody's to write.
 */
export function userRoles({ managed, commands, accounts, mirrors }: KindsRegistry): UserRoles {
  const of = (descriptors: Parameters<typeof resourceTypeOf>[0][], verbs: readonly Verb[], why: string) => {
    return descriptors.map((descriptor) => ({ type: resourceTypeOf(descriptor), verbs, why }))
  }
  const within = (reach: Reach) => [...managed, ...commands].filter((descriptor) => descriptor.reach === reach)
  const edited = of(within('namespace'), WRITE, 'People write what has to be at the API.')
  return {
    view: of([...accounts, ...managed, ...mirrors, ...commands], READ, 'No kind holds a secret.'),
    edit: edited,
    admin: [
      ...edited,
      ...of(within('account'), WRITE, 'They open, close or watch the account as a whole, or what others have in it.'),
      ...of([...accounts], WRITE, 'An account decides where calls go, and with which key.'),
    ],
  }
}
