import { beforeAll, describe, expect, test } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import { isPaused } from '../../../src/managed/cr.ts'
import { ARGO_FOR, Judge } from '../../gitops/judge.ts'
import { Release } from '../../releases/release.ts'

let judge: Judge

beforeAll(async () => {
  judge = await Judge.open()
}, 900_000)

describe.each(await Release.all())('of release $index.version', (release) => {
  test('kstatus and Argo CD report every state of every resource correctly', async () => {
    const all = await release.resources()
    const verdicts = await judge.judge(all.map(({ object }) => object))
    const seen = all.map(({ recorded: { file } }, index) => {
      return [file, verdicts[index]?.kstatus.status, verdicts[index]?.argo.status]
    })
    const expected = all.map(({ recorded: { file, phase }, object }) => {
      return [file, phase, isPaused(object) ? 'Suspended' : ARGO_FOR[phase]]
    })
    expect(seen).toEqual(expected)
    if (!release.isWhole) return
    expect(new Set(all.map(({ object }) => object.kind))).toEqual(
      new Set(kinds.map(({ definition }) => definition.kind)),
    )
  })
})
