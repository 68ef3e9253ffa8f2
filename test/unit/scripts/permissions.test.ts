import { describe, expect, test } from 'vitest'
import { type Reach, watchedPermissions } from '../../../scripts/permissions/operator.ts'
import { userRoles } from '../../../scripts/permissions/users.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { KindsRegistry } from '../../../src/managed/kinds-registry.ts'
import { type Permission, rulesOf } from '../../../src/managed/permissions.ts'

const registry = new KindsRegistry(kinds)

/** `group/resource verb`, one each. */
function texts(permissions: readonly Permission[]): readonly string[] {
  return rulesOf(permissions).flatMap(({ apiGroups, resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${apiGroups.join()}/${resource} ${verb}`)),
  )
}

const granted = (reach: Reach): ReadonlySet<string> => new Set(texts(watchedPermissions(registry, reach)))
const everything = granted({ scope: 'cluster', watchSecrets: true, dnsEndpoints: false })

describe('the operator', () => {
  test('may see every kind and write its status', () => {
    for (const { definition } of kinds) {
      expect(everything).toContain(`culvert.dev/${definition.plural} watch`)
      expect(everything).toContain(`culvert.dev/${definition.plural}/status patch`)
    }
  })

  test('makes and deletes resources of no kind that people write, but for commands', () => {
    const written = [...registry.managed, ...registry.accounts].map(({ definition }) => definition.plural)
    for (const plural of written) {
      for (const verb of ['create', 'update', 'delete', 'deletecollection']) {
        expect(everything).not.toContain(`culvert.dev/${plural} ${verb}`)
      }
    }
  })

  test('of some namespaces lacks what belongs to the cluster, and nothing else', () => {
    const namespaced = granted({ scope: 'namespace', watchSecrets: true, dnsEndpoints: false })
    const lacking = [...everything].filter((each) => !namespaced.has(each))
    expect(new Set(lacking.map((each) => each.split(' ')[0]))).toEqual(
      new Set(['culvert.dev/clusteraccounts', 'culvert.dev/clusteraccounts/status', '/namespaces']),
    )
    expect([...namespaced].filter((each) => !everything.has(each))).toEqual([])
  })

  test('that does not watch Secrets lacks list and watch of these and of ConfigMaps, and nothing else', () => {
    const unwatched = granted({ scope: 'cluster', watchSecrets: false, dnsEndpoints: false })
    expect(new Set([...everything].filter((each) => !unwatched.has(each)))).toEqual(
      new Set(['/secrets list', '/secrets watch', '/configmaps list', '/configmaps watch']),
    )
  })
})

test('rules join what is asked for twice, and keep apart what concerns some objects only', () => {
  const type = { group: '', plural: 'secrets' }
  const rules = rulesOf([
    { type, verbs: ['patch'], why: 'a' },
    { type, verbs: ['get', 'patch'], why: 'b' },
    { type: { group: '', plural: 'configmaps' }, verbs: ['get', 'patch'], why: 'c' },
    { type, verbs: ['delete'], names: ['one'], why: 'd' },
  ])
  expect(rules).toEqual([
    { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'patch'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['one'], verbs: ['delete'] },
  ])
})

test('people see every kind, edit what reaches no further than the namespace, and write nothing that Culvert alone writes', () => {
  const { view, edit, admin } = userRoles(registry)
  for (const { definition } of kinds) expect(texts(view)).toContain(`culvert.dev/${definition.plural} list`)
  const written = new Set(texts([...edit, ...admin]).map((each) => each.split(' ')[0]))
  for (const { definition } of registry.mirrors) expect(written).not.toContain(`culvert.dev/${definition.plural}`)
  for (const { definition, reach } of [...registry.managed, ...registry.commands]) {
    expect(texts(edit).includes(`culvert.dev/${definition.plural} create`), definition.kind).toBe(reach === 'namespace')
    expect(texts(admin), definition.kind).toContain(`culvert.dev/${definition.plural} create`)
  }
  expect(texts(edit)).not.toContain('culvert.dev/accounts update')
  expect(texts(admin)).toContain('culvert.dev/accounts update')
})
