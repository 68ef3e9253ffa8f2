import { beforeAll, describe, expect, test } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import { isPaused } from '../../../src/managed/cr.ts'
import { ARGO_FOR, Judge } from '../../gitops/judge.ts'
import { Release, recordedReleases } from '../../releases/release.ts'

let judge: Judge

beforeAll(async () => {
  judge = await Judge.open()
}, 900_000)

describe.each(await recordedReleases())('of release %s', (version) => {
  test('kstatus and Argo CD report every state of every resource correctly', async () => {
    const all = await (await Release.open(version)).all()
    const verdicts = await judge.judge(all.map(({ object }) => object))
    const seen = all.map(({ recorded: { file } }, index) => {
      return [file, verdicts[index]?.kstatus.status, verdicts[index]?.argo.status]
    })
    const expected = all.map(({ recorded: { file, phase }, object }) => {
      return [file, phase, isPaused(object) ? 'Suspended' : ARGO_FOR[phase]]
    })
    expect(seen).toEqual(expected)
    // Tunnels are newer than the recording of 0.1.0.
    const recorded = kinds.filter(({ role }) => role !== 'composed')
    expect(new Set(all.map(({ object }) => object.kind))).toEqual(
      new Set(recorded.map(({ definition }) => definition.kind)),
    )
  })
})
