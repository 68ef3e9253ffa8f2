import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { userRoles } from '../../../scripts/permissions/users.ts'
import { kinds } from '../../../src/kinds/index.ts'
import type { Descriptor } from '../../../src/managed/descriptor/descriptor.ts'
import { KindsRegistry } from '../../../src/managed/kinds-registry.ts'
import { specsOf } from '../../kinds/lookup.ts'

interface Row {
  readonly kind: string
  readonly role: string
  readonly can: string
  readonly limits: string
}

const page = await readFile(new URL('../../../docs/security.md', import.meta.url), 'utf8')
const registry = new KindsRegistry(kinds)
const roles = userRoles(registry)
const rows = rowsOf('What an author can do')

/** The rows under a heading whose first cell links to the page of a kind. */
function rowsOf(heading: string): readonly Row[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
  return section.split('\n').flatMap((line): readonly Row[] => {
    const [kind = '', role = '', can = '', limits = ''] = line
      .slice(1)
      .split('|', 4)
      .map((cell) => cell.trim())
    return kind.startsWith('[') ? [{ kind, role, can, limits }] : []
  })
}

/** The lowest user role that may write a kind. */
function roleOf({ definition: { plural, scope } }: Descriptor): string {
  const role = (['edit', 'admin'] as const).find((each) => roles[each].some(({ type }) => type.plural === plural))
  return role !== undefined && scope === 'Cluster' ? `${role} in the whole cluster` : (role ?? 'none')
}

/** The row of a kind. */
function rowOf({ definition }: Descriptor): Row | undefined {
  return rows.find(({ kind }) => kind.startsWith(`[${definition.kind}]`))
}

test('every kind has one row that says what its author can do, and whose role agrees with the rules of the chart', () => {
  const inOrder = (left: readonly string[], right: readonly string[]): number => (String(left) < String(right) ? -1 : 1)
  const declared = kinds.map((descriptor) => {
    const { kind, plural } = descriptor.definition
    return [`[${kind}](kinds/${plural}.md)`, roleOf(descriptor)]
  })
  expect(rows.map(({ kind, role }) => [kind, role]).toSorted(inOrder)).toEqual(declared.toSorted(inOrder))
  expect(rows.filter(({ can, limits }) => can === '' || limits === '')).toEqual([])
})

test('a row says that `kinds` has to name the kind, where a shared account gives it to nobody otherwise', () => {
  for (const descriptor of [...registry.managed, ...registry.commands]) {
    const isBeyond = descriptor.reach === 'account'
    expect(rowOf(descriptor)?.limits === 'only where `kinds` names it', descriptor.definition.kind).toBe(isBeyond)
  }
})

test('a row names `domains` or `labels`, where these limit what specs of the kind claim', () => {
  for (const descriptor of registry.managed) {
    const isLimited = /`(domains|labels)`/.test(rowOf(descriptor)?.limits ?? '')
    expect(isLimited, descriptor.definition.kind).toBe(descriptor.needs !== undefined)
  }
})

test('the matrix of names tells of every kind whether its specs refer to others, and whether limits keep their needs apart', () => {
  const cells = page.split('\n').map((line) =>
    line
      .slice(1)
      .split('|', 7)
      .map((cell) => cell.trim()),
  )
  const from = cells.findIndex(([, second]) => second === 'reference by name')
  const matrix = new Map(
    cells
      .slice(
        from,
        cells.findIndex(([first], at) => at > from && first === ''),
      )
      .map((row) => [row[0], row]),
  )
  for (const descriptor of registry.managed) {
    const { kind } = descriptor.definition
    const [, byName, byId, , , domain, labels] = matrix.get(kind) ?? []
    const refers = specsOf(kind).some(({ spec }) => descriptor.references.of(spec('any') as never).length > 0)
    expect([byName === 'refused', byId === 'refused'], kind).toEqual([refers, refers])
    expect([domain, labels].includes('limited'), kind).toBe(descriptor.needs !== undefined)
  }
})
