import { expect } from 'vitest'
import type { KubernetesNode } from '../node.ts'
import { memoryOf, operatorPods } from './pods.ts'

/** Expects that no operator reached its memory limit, let alone was killed for it, and prints the usage of each. */
export async function expectMemoryHeld(node: KubernetesNode, when: string): Promise<void> {
  for (const pod of await operatorPods(node)) {
    expect(pod.restarts).toBe(0)
    expect(pod.terminations).toEqual([])
    const { peak, resident, limit } = await memoryOf(node, pod)
    console.log(
      `${when}: ${pod.name} was charged at most ${mebibytes(peak)} of its ${mebibytes(limit)}, ` +
        `and had at most ${mebibytes(resident)} resident, with the files that others had loaded`,
    )
    for (const bytes of [peak, resident]) {
      expect(bytes).toBeGreaterThan(0)
      expect(bytes).toBeLessThan(limit)
    }
  }
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`
}
