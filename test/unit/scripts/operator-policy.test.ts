import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { operatorPolicy } from '../../../scripts/permissions/operator-policy.ts'
import { rbacFiles } from '../../../scripts/rbac-files.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { KindsRegistry } from '../../../src/managed/kinds-registry.ts'
import type { Rule } from '../../../src/managed/permissions.ts'

const registry = new KindsRegistry(kinds)

/** Roles for others than the operator. */
const OTHERS = /^(user|leftovers)-/

const OPERATIONS: Readonly<Record<string, string>> = {
  create: 'CREATE',
  update: 'UPDATE',
  patch: 'UPDATE',
  delete: 'DELETE',
  deletecollection: 'DELETE',
}

test('the admission policy knows every write that a role of the operator grants, and no other but that of the RoleBinding it holds', () => {
  const written = [...rbacFiles(registry)].flatMap(([path, text]) => {
    if (OTHERS.test(basename(path))) return []
    const { rules } = parse(text) as { readonly rules: readonly Rule[] }
    return rules.flatMap(({ apiGroups: [group = ''], resources, verbs }) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) => {
          const operation = OPERATIONS[verb]
          return operation === undefined ? [] : [`${operation} ${group === '' ? '' : `${group}/`}${resource}`]
        }),
      ),
    )
  })
  const { expression = '' } = operatorPolicy(registry).variables.find(({ name }) => name === 'granted') ?? {}
  const known = [...expression.matchAll(/'([^']+)'/g)].map(([, text]) => text)
  expect(new Set(known)).toEqual(new Set([...written, 'UPDATE rbac.authorization.k8s.io/rolebindings']))
})
