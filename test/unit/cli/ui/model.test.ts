import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addressOf,
  ageText,
  changedRows,
  countText,
  judgedSteps,
  type Line,
  markdownOf,
  type Row,
  shownRows,
  verdictText,
  viewOf,
  windowOf,
} from '../../../../src/cli/ui/page/model.js'

function row(id: string, fields: Partial<Row> = {}): Row {
  return {
    id,
    look: 'ok',
    state: 'Works',
    hosts: [`${id.replace('/', '-')}.example:443`],
    access: 'addresses',
    answers: '2 tunnels online',
    ...fields,
  }
}

const line: Line = {
  id: 'web/shop',
  failing: 'ip-policies',
  sentence: 'IPPolicy/office: nobody can connect.',
  remedy: 'Change the spec.',
  command: 'kubectl edit ippolicies.culvert.dev/office',
  steps: [
    {
      kind: 'edge',
      title: 'Host',
      look: 'ok',
      text: 'TCP connections',
      parts: [{ text: 'shop.example:443', look: 'ok' }],
    },
    {
      kind: 'ip-policies',
      title: 'IP policies',
      look: 'bad',
      text: 'nobody can connect',
      parts: [
        { text: 'IPPolicy/office', label: 'Ready', look: 'bad' },
        { text: 'deny 0.0.0.0/0', look: 'idle', depth: 1, rule: 'ipr_1' },
      ],
    },
  ],
}

describe('rows', () => {
  test('are worst first, then by name', () => {
    const rows = [row('b/ok'), row('a/warn', { look: 'warn' }), row('z/bad', { look: 'bad' }), row('a/ok')]
    expect(shownRows(rows, '').map(({ id }) => id)).toEqual(['z/bad', 'a/warn', 'a/ok', 'b/ok'])
  })

  test('are found by every word of the filter, in any of their texts', () => {
    const rows = [row('web/shop', { access: 'everyone' }), row('web/cart'), row('dev/shop')]
    expect(shownRows(rows, 'SHOP web').map(({ id }) => id)).toEqual(['web/shop'])
    expect(shownRows(rows, 'everyone').map(({ id }) => id)).toEqual(['web/shop'])
    expect(shownRows(rows, 'cart.example').map(({ id }) => id)).toEqual(['web/cart'])
    expect(shownRows(rows, 'absent')).toEqual([])
  })

  test('follow changes', () => {
    const rows = new Map([row('a/a'), row('b/b')].map((each) => [each.id, each]))
    const changed = changedRows(rows, { set: [row('b/b', { look: 'bad' }), row('c/c')], gone: ['a/a'] })
    expect([...changed.values()].map(({ id, look }) => `${id} ${look}`)).toEqual(['b/b bad', 'c/c ok'])
    expect(countText(changed.values())).toBe('2 edges: 1 failing, 0 waiting or with warnings')
  })
})

test('of a long list, all that is in sight is drawn, and no more than a screen and a bit', () => {
  const scroll = fc.record({ top: fc.nat(2_000_000), height: fc.integer({ min: 1, max: 3000 }), count: fc.nat(20_000) })
  fc.assert(
    fc.property(scroll, ({ top, height, count }) => {
      const rowHeight = 100
      const { first, last } = windowOf({ top, height, rowHeight, count })
      expect(last - first).toBeLessThanOrEqual(Math.ceil(height / rowHeight) + 10)
      expect(0 <= first && first <= last && last <= count).toBe(true)
      const inSight = (index: number): boolean => index * rowHeight < top + height && (index + 1) * rowHeight > top
      for (let index = Math.max(0, first - 3); index < Math.min(count, last + 3); index++) {
        if (inSight(index)) expect(first <= index && index < last).toBe(true)
      }
    }),
  )
})

test('an address holds the view, whatever it is, and never a token', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (edge, from, filter) => {
      const address = addressOf({ edge, from, filter })
      expect(viewOf(address.slice(1))).toEqual({ edge, from, filter })
    }),
  )
  expect(addressOf({ ...viewOf('?token=x&edge=web/shop'), from: '2001:db8::1' })).toBe(
    '/?edge=web/shop&from=2001:db8::1',
  )
})

test.for([
  [30_000, 'less than a minute'],
  [60_000, '1 minute'],
  [3 * 3_600_000 + 5, '3 hours'],
  [49 * 3_600_000, '2 days'],
] as const)('%i ms are %s', ([ms, text]) => {
  expect(ageText('2026-11-24T09:00:00Z', Date.parse('2026-11-24T09:00:00Z') + ms)).toBe(text)
})

describe('a judgement', () => {
  const text = 'the rule denies it'
  const judgement = {
    verdict: 'refused',
    from: '192.0.2.1',
    steps: [{ kind: 'ip-policies', outcome: 'refuses', text, rule: 'ipr_1' }],
  }

  test('marks the rule that decides', () => {
    const [, policies] = judgedSteps(line, judgement)
    expect(policies?.decides).toBe(true)
    expect(policies?.parts.filter(({ isDeciding }) => isDeciding).map((part) => part.text)).toEqual(['deny 0.0.0.0/0'])
    expect(judgedSteps(line, undefined).some(({ decides }) => decides)).toBe(false)
  })

  test('is said in a sentence', () => {
    expect(verdictText(judgement)).toBe('A connection from 192.0.2.1 is refused: the rule denies it.')
    expect(verdictText({ ...judgement, verdict: 'admitted', steps: [] })).toBe(
      'A connection from 192.0.2.1 is admitted.',
    )
  })
})

describe('Markdown', () => {
  test('has what fails, the command and the line', () => {
    expect(markdownOf(row('web/shop', { state: 'Fails' }), line, undefined)).toMatchInlineSnapshot(`
      "## Edge web/shop — Fails

      Only allowed addresses. Answers: 2 tunnels online.

      **IPPolicy/office: nobody can connect.** Change the spec.

      \`\`\`sh
      kubectl edit ippolicies.culvert.dev/office
      \`\`\`

      - Host: TCP connections
        - shop.example:443
      - **IP policies** ✕: nobody can connect
        - Ready IPPolicy/office
          - deny 0.0.0.0/0
      "
    `)
  })

  test('has nothing of others that a renderer would obey', () => {
    const evil = '<img src=x> [click](http://evil.example) `code` @everyone **bold**'
    const written = markdownOf(row('web/shop', { answers: evil }), { ...line, sentence: evil }, undefined)
    expect(written.replaceAll('```', '')).not.toMatch(/(?<!\\)[<>[\]`@]/)
  })
})
