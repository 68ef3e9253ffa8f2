import { describe, expect, test } from 'vitest'
import { Scaling } from '../../../../src/managed/tunnels/scaling.ts'

/** A Tunnel of two agents that has been reconciled once. */
function settled(): Scaling {
  const scaling = new Scaling()
  for (const stored of [undefined, 2]) {
    expect(scaling.decide('shop', 2, stored, 0)).toEqual({ leftMs: undefined, isNew: false })
  }
  return scaling
}

describe('the number of agents', () => {
  test('is set back a few times only where another client sets its own every 15 seconds, and said once', () => {
    const scaling = settled()
    let [writes, told] = [0, 0]
    for (let round = 1; round <= 40; round++) {
      const { leftMs, isNew } = scaling.decide('shop', 2, 5, round * 15_000)
      if (leftMs === undefined) writes++
      if (isNew) told++
    }
    expect({ writes, told }).toEqual({ writes: 4, told: 1 })
  })

  test('is set back at once after a person scaled the Deployment, and again after a calm time', () => {
    const scaling = settled()
    for (const at of [10_000, 300_000, 600_000]) expect(scaling.decide('shop', 2, 5, at).leftMs).toBeUndefined()
  })

  test('follows the spec without delay, also while another client disagrees', () => {
    const scaling = settled()
    scaling.decide('shop', 2, 5, 10_000)
    expect(scaling.decide('shop', 2, 5, 20_000)).toEqual({ leftMs: 50_000, isNew: true })
    expect(scaling.decide('shop', 3, 5, 30_000)).toEqual({ leftMs: undefined, isNew: false })
    expect(scaling.decide('shop', 3, 5, 40_000)).toEqual({ leftMs: 30_000, isNew: false })
    expect(scaling.decide('other', 2, 5, 40_000).leftMs).toBeUndefined()
  })
})
