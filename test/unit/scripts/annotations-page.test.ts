import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import * as names from '../../../src/managed/names.ts'
import { SERVICE, SERVICE_CLASS } from '../../../src/managed/services/service.ts'
import { TUNNEL } from '../../../src/managed/tunnels/tunnel-resource.ts'

const { FINALIZER, GROUP, INTERNAL } = names

const page = await readFile(new URL('../../../docs/annotations.md', import.meta.url), 'utf8')
/** The text under each heading of the page. */
const sections = new Map(
  page.split(/^## /m).map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
)
const declared = Object.values(names).filter((name) => name.includes(`${GROUP}/`))

/** The first column of the tables under a heading. */
function listed(heading: string): readonly string[] {
  return [...(sections.get(heading) ?? '').matchAll(/^\| `(?<name>[^`]+)`/gm)].map(({ groups }) => groups?.name ?? '')
}

test('the page lists every annotation and finalizer there is, once, the public ones apart from Culvert’s own', () => {
  const isOwn = (name: string): boolean => name.startsWith(`${INTERNAL}/`)
  expect(listed('Internal annotations').toSorted(inOrder)).toEqual(declared.filter(isOwn).toSorted(inOrder))
  expect(listed('For you to read')).toEqual([FINALIZER])
  const requests = declared.filter((name) => !isOwn(name) && name !== FINALIZER)
  expect(listed('For you to set').toSorted(inOrder)).toEqual(requests.toSorted(inOrder))
  for (const name of declared) expect(name).toMatch(isOwn(name) ? /^internal\.culvert\.dev\// : /^culvert\.dev\//)
})

test('a name that the page mentions is one of these, or a label of a kind', () => {
  const labels = kinds.flatMap((kind) => (kind.role === 'mirror' ? Object.keys(kind.labels({ id: 'ts_1' })) : []))
  const mentioned = [...page.matchAll(/(?:internal\.)?culvert\.dev\/[a-z][-a-z]*/g)].map(([name]) => name)
  expect([...declared, ...labels, TUNNEL, SERVICE, SERVICE_CLASS]).toEqual(
    expect.arrayContaining([...new Set(mentioned)]),
  )
})

test('every request is answered in the status field that its name gives', () => {
  for (const name of declared.filter((each) => each.endsWith('-requested-at'))) {
    const verb = name.slice(`${GROUP}/`.length, -'-requested-at'.length)
    const answer = `lastHandled${verb.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())}At`
    expect(sections.get('For you to set')).toContain(`\`status.${answer}\``)
    expect(kinds.some(({ definition }) => answer in definition.status.properties)).toBe(true)
  }
})

function inOrder(left: string, right: string): number {
  return left < right ? -1 : 1
}
