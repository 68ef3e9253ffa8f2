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

/** Who may view sees every kind; who may edit writes resources and commands; who administers a namespace its accounts too. What Culvert alone writes is nobody's to write. */
export function userRoles({ managed, commands, accounts, mirrors }: KindsRegistry): UserRoles {
  const of = (descriptors: Parameters<typeof resourceTypeOf>[0][], verbs: readonly Verb[], why: string) => {
    return descriptors.map((descriptor) => ({ type: resourceTypeOf(descriptor), verbs, why }))
  }
  const edited = of([...managed, ...commands], WRITE, 'People write what has to be at the API.')
  return {
    view: of([...accounts, ...managed, ...mirrors, ...commands], READ, 'No kind holds a secret.'),
    edit: edited,
    admin: [...edited, ...of([...accounts], WRITE, 'An account decides where calls go, and with which key.')],
  }
}
