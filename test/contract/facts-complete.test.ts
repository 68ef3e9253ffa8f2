import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { allCollections, collectionAt, createFields, responseFields, updateFields } from './facts/all.ts'
import {
  contract,
  decisions,
  endpointRows,
  names,
  namesInLine,
  namesInTableAfter,
  tableUnder,
} from './facts/document.ts'
import type { CollectionFact, Shape } from './facts/facts.ts'
import { allObjects, objectNamed } from './facts/objects.ts'
import { allRules } from './facts/rules/all.ts'
import { tunnelSessions } from './facts/tunnel-sessions.ts'

const sorted = (values: Iterable<string>): readonly string[] => [...values].sort((a, b) => a.localeCompare(b))
const fieldNames = (fields: readonly { readonly name: string }[]): readonly string[] =>
  sorted(fields.map((field) => field.name))
const returnedNames = (path: string): readonly string[] => fieldNames(responseFields(collectionAt(path)))
/** The conventions name these for all resources, whose own lists repeat only some of them. */
const withIdentity = (listed: readonly string[]): readonly string[] =>
  sorted(new Set(['id', 'uri', 'created_at', ...listed]))

describe('the endpoints table of the contract', () => {
  const documented = endpointRows()

  test('has a row of facts for each collection, and no row of facts beyond it', () => {
    expect(documented).toHaveLength(22)
    expect(sorted(allCollections.map((row) => row.path))).toEqual(sorted(documented.map((row) => row.path)))
  })

  test.each(documented)('$path has the list key, the create fields and the update fields of the document', (row) => {
    const facts = collectionAt(row.path)
    expect(facts.listKey).toBe(row.listKey)
    expect(fieldNames(createFields(facts))).toEqual(sorted(row.create))
    expect(fieldNames(updateFields(facts))).toEqual(sorted(row.update))
  })

  test('has for each create field left out of the update either fixed or no fact', () => {
    for (const row of documented) {
      const fixed = collectionAt(row.path).fields.filter((field) => field.sent?.update === 'fixed')
      expect(fieldNames(fixed), row.path).toEqual(sorted(row.create.filter((name) => !row.update.includes(name))))
    }
  })
})

describe('the fields of resources', () => {
  const tables: readonly (readonly [string, string])[] = [
    ['api_keys', 'API key:'],
    ['credentials', 'Tunnel credential (collection'],
    ['ssh_credentials', 'SSH credential:'],
    ['bot_users', 'Bot user:'],
    ['ip_policy_rules', 'IP policy rule:'],
    ['ip_restrictions', 'IP restriction:'],
    ['reserved_domains', 'Reserved domain:'],
    ['ssh_user_certificates', 'SSH user certificate:'],
  ]
  const lines: readonly (readonly [string, string])[] = [
    ['ip_policies', 'IP policy: '],
    ['reserved_addrs', 'Reserved address: '],
    ['agent_ingresses', 'Agent ingress: '],
    ['edges/tcp', 'TCP edge: '],
    ['ssh_certificate_authorities', 'SSH certificate authority: '],
    ['certificate_authorities', 'Certificate authority (uploaded): '],
    ['event_destinations', 'Event destination: '],
    ['event_subscriptions', 'Event subscription: '],
  ]

  test.each(tables)('%s returns what its table lists', (path, marker) => {
    expect(returnedNames(path)).toEqual(sorted(namesInTableAfter(marker)))
  })

  test.each(lines)('%s returns what its line lists', (path, start) => {
    // A reserved domain's base is quoted once more in the line about agent ingresses; a set removes such repetitions.
    expect(returnedNames(path)).toEqual(withIdentity(namesInLine(start)))
  })

  test('TLS edges add two modules to a TCP edge', () => {
    const added = namesInLine('TLS edge: ')
    expect(returnedNames('edges/tls')).toEqual(sorted([...returnedNames('edges/tcp'), ...added]))
  })

  test('SSH host certificates are user certificates without two fields', () => {
    const [, without = ''] = /^SSH host certificate: same shape without ([^;]*);/m.exec(contract) ?? []
    const missing = [...without.matchAll(/`([a-z_]+)`/g)].map((match) => match[1])
    expect(missing).toHaveLength(2)
    expect(returnedNames('ssh_host_certificates')).toEqual(
      returnedNames('ssh_user_certificates').filter((name) => !missing.includes(name)),
    )
  })

  test('backends add the fields of their kind to the common ones', () => {
    const rows = tableUnder(contract, '| kind | extra fields |')
    expect(rows).toHaveLength(4)
    for (const [kind = '', extra = ''] of rows) {
      const fields = [...extra.replace(/\([^)]*\)/g, '').matchAll(/[a-z_]+/g)].map((match) => match[0])
      const path = `backends/${kind.toLowerCase().replaceAll(' ', '_')}`
      expect(returnedNames(path), path).toEqual(
        sorted(['id', 'uri', 'created_at', 'description', 'metadata', ...fields]),
      )
    }
  })

  test('tunnel sessions return what their table lists', () => {
    expect(fieldNames(tunnelSessions.fields)).toEqual(sorted(namesInTableAfter('### Tunnel sessions')))
  })

  test('modules hold the fields of the module table', () => {
    for (const [module = '', cell = ''] of tableUnder(contract, '| module | fields |')) {
      expect(fieldNames(objectNamed(module).fields), module).toEqual(sorted(names(cell)))
    }
  })

  test('event targets hold the fields of the target table', () => {
    const members = tableUnder(contract, '| member | fields |')
    expect(fieldNames(objectNamed('EventTarget').fields)).toEqual(sorted(members.map(([member = '']) => member)))
    for (const [member = '', cell = ''] of members) {
      const shape = objectNamed('EventTarget').fields.find((field) => field.name === member)?.shape
      const target = objectNamed(shape?.kind === 'object' ? shape.object : member)
      expect(fieldNames(target.fields), member).toEqual(sorted(names(cell)))
    }
  })
})

describe('identifiers and limits', () => {
  test('every prefix is the one the conventions give, each used once', () => {
    const [, listed = ''] = /^- Identifier prefixes observed \(shape only\): (.*)$/m.exec(contract) ?? []
    const documented = new Set([...listed.matchAll(/`([a-z]+_)`/g)].map((match) => match[1] ?? ''))
    const used = [...allCollections.map((row) => row.idPrefix), tunnelSessions.idPrefix]
    expect(new Set(used).size).toBe(used.length)
    // Users, TLS certificates and endpoint configurations are only referred to.
    expect(sorted([...used, 'usr_', 'cert_', 'ec_'])).toEqual(sorted(documented))
  })

  test('every limit is one that the limits table or the decisions state', () => {
    const limits = tableUnder(contract, '| subject | limit |').map((cells) => cells.join(' '))
    expect(limits).toContain('description 255 bytes (event subscriptions: 255 chars)')
    expect(limits).toContain('metadata 4096 bytes (event subscriptions: 4096 chars)')
    expect(limits).toContain('weight in a weighted backend 0 to 10000')
    for (const row of allCollections) {
      const unit = row.path === 'event_subscriptions' ? 'chars' : 'bytes'
      const limited = row.fields.filter((field) => field.sent?.shape.kind === 'string' && field.sent.shape.limit)
      const free = row.path.startsWith('backends/') || row.path === 'bot_users'
      expect(
        limited.map((field) => [field.name, field.sent?.shape]),
        row.path,
      ).toEqual(
        free
          ? []
          : [
              ['description', { kind: 'string', limit: { max: 255, unit } }],
              ['metadata', { kind: 'string', limit: { max: 4096, unit } }],
            ],
      )
    }
  })
})

describe('the table itself', () => {
  const objectsOf = (shape: Shape): readonly string[] => {
    switch (shape.kind) {
      case 'object':
        return [shape.object, ...objectNamed(shape.object).fields.flatMap((field) => objectsOf(field.shape))]
      case 'list':
      case 'map':
        return objectsOf(shape.of)
      case 'string':
      case 'boolean':
      case 'integer':
      case 'id':
      case 'ref':
      case 'free-object':
        return []
    }
  }

  test('has no two rows with one id', () => {
    const ids = [
      ...allCollections.map((row) => row.path),
      ...allCollections.flatMap((row) => row.fields.map((field) => field.id)),
      ...allCollections.flatMap((row) => row.subResources.map((sub) => sub.id)),
    ]
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  test('has no object that no field uses, and uses none that it lacks', () => {
    const shapes = allCollections.flatMap((row) =>
      row.fields.flatMap((field) => [field.sent?.shape, field.returned?.shape].filter((shape) => shape !== undefined)),
    )
    expect(sorted(new Set(shapes.flatMap(objectsOf)))).toEqual(sorted(allObjects.map((object) => object.name)))
  })

  test('cites sections that the two documents have', () => {
    const sections = { 'management-api.md': contract, 'api-decisions.md': decisions }
    const sources = [
      ...allCollections.flatMap((row: CollectionFact) => [
        row.source,
        ...row.fields.map((field) => field.source),
        ...row.subResources.map((sub) => sub.source),
      ]),
      ...allObjects.map((object) => object.source),
      ...Object.values(allRules).map((rule) => rule.source),
    ]
    for (const source of new Set(sources)) {
      const [, document = '', section = ''] = /^(\S+) § (.+?)(?:, special rule \d)?$/.exec(source) ?? []
      expect(sections[document as keyof typeof sections], source).toMatch(new RegExp(`^###? ${section}$`, 'm'))
    }
  })

  test('has a test for each rule', () => {
    const suite = globSync(new URL('./*.test.ts', import.meta.url).pathname).map((file) => readFileSync(file, 'utf8'))
    const claimed = new Set(
      suite.flatMap((text) => [...text.matchAll(/stated\('([^']+)'\)/g)].map((match) => match[1])),
    )
    expect(sorted([...claimed].map(String))).toEqual(sorted(Object.keys(allRules)))
  })
})
