import { expect, test } from 'vitest'
import { CHOICES, type ChoiceEntry } from '../../../src/emulator/choices/choice-table.ts'
import {
  ALTERNATIVES,
  type ChoiceName,
  contraryOnes,
  DECIDED,
  drawnBy,
  readChoice,
  spelledPlainly,
  withAlternative,
} from '../../../src/emulator/choices/choices.ts'
import { EmulatorProcess } from '../../builders/emulator-process.ts'
import { decisions } from '../facts/document.ts'

const entries: readonly (readonly [string, ChoiceEntry])[] = Object.entries(CHOICES)

test('every choice has a name in kebab case, a decided value, and others with a meaning each', () => {
  for (const [name, { point, decided, values }] of entries) {
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(point).not.toBe('')
    expect(Object.keys(values)).toContain(decided)
    expect(Object.keys(values).length).toBeGreaterThan(1)
    for (const [value, meaning] of Object.entries(values)) expect([value, meaning]).not.toContain('')
  }
})

test('the page of the decisions has every choice with its values', () => {
  const alternatives = decisions.slice(decisions.indexOf('## Alternatives of the contrary emulator'))
  for (const [name, { values }] of entries) {
    const row = alternatives.split('\n').find((line) => line.startsWith(`| \`${name}\` |`))
    for (const value of Object.keys(values)) expect(row).toContain(`\`${value}\`: `)
  }
})

test('each decision names its alternatives where it stands', () => {
  for (const [name, { decidedIn }] of entries) {
    expect(decidedIn).not.toEqual([])
    for (const place of decidedIn) {
      const [, rest = ''] = decisions.split(place.startsWith('## ') ? `\n${place}\n` : `\n| ${place} |`)
      const [text = ''] = rest.split(place.startsWith('## ') ? '\n## ' : '\n')
      expect(text).toMatch(new RegExp(`Alternatives: \\[[^\\]]*\`${name}\``))
    }
  }
})

test('a seed draws an alternative for every choice, always the same, and different seeds draw differently', () => {
  const names = Object.keys(CHOICES) as ChoiceName[]
  const draws = Array.from({ length: 100 }, (_, seed) => drawnBy(String(seed)))
  for (const [seed, draw] of draws.entries()) {
    expect(names.filter((name) => draw[name] === DECIDED[name])).toEqual([])
    expect(drawnBy(String(seed))).toEqual(draw)
  }
  const drawn = new Set(draws.flatMap(contraryOnes))
  expect(ALTERNATIVES.map(({ name, value }) => `${name}=${value}`).filter((each) => !drawn.has(each))).toEqual([])
})

test('a choice is read from name=value; what is not in the table is refused with what is', () => {
  expect(withAlternative(DECIDED, readChoice('min-version-default=1.1'))['min-version-default']).toBe('1.1')
  expect(contraryOnes(withAlternative(DECIDED, readChoice('cidr=bare')))).toEqual(['cidr=bare'])
  expect(contraryOnes(DECIDED)).toEqual([])
  expect(() => readChoice('colour=red')).toThrow(/choice colour=red; .*NAME one of error-body, refusal-status/)
  expect(() => readChoice('cidr=red')).toThrow(/cidr=VALUE, with VALUE one of canonical, bare, long/)
  expect(() => readChoice('cidr')).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})

test('spelled plainly, answers are as decided and the service behaves as chosen, also when that changes', () => {
  const choices = { ...drawnBy('a') }
  const plain = spelledPlainly(choices)
  expect(plain).toMatchObject({ 'error-body': DECIDED['error-body'], ids: choices.ids })
  choices.ids = DECIDED.ids
  expect(plain.ids).toBe(DECIDED.ids)
})

test('the flags take a seed, draw and print one, and let single choices be made', async () => {
  const given = await EmulatorProcess.start(['--contrary', 'a1', '--choose', 'ids=ksuid', '--choose', 'times=utc'])
  try {
    expect(given.output).toContain('emulator listening on')
    await expect.poll(() => given.output).toContain('contrary choices drawn by the seed a1')
    await expect.poll(() => given.output).toMatch(/^choices: error-body=/m)
    expect(given.output).not.toMatch(/ids=|times=/)
  } finally {
    await given.stop('SIGTERM')
  }
  const drawn = await EmulatorProcess.start(['--contrary'])
  try {
    await expect.poll(() => drawn.output).toMatch(/--contrary [0-9a-f]{8} draws them again/)
  } finally {
    await drawn.stop('SIGTERM')
  }
  await expect(EmulatorProcess.start(['--choose', 'ids=words'])).rejects.toThrow(
    /ids=VALUE, with VALUE one of ksuid, hex, number, random/,
  )
})
