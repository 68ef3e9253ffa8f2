import type { ApiFault } from './model-account-client.ts'
import type { KubeFault } from './model-kube-client.ts'
import type { ModelWorld } from './model-world.ts'

/** Faults of an operator in any story. */
export type Trouble =
  | { readonly type: 'crash'; readonly downMs: number }
  | { readonly type: 'api fault'; readonly fault: ApiFault }
  | { readonly type: 'kube fault'; readonly fault: KubeFault }

/** Applies the fault to the operator: at once, or to its next call to the server concerned. */
export async function suffer(world: ModelWorld, trouble: Trouble): Promise<void> {
  switch (trouble.type) {
    case 'crash':
      world.kill()
      await world.clock.advance(trouble.downMs)
      world.startOperator()
      return
    case 'api fault':
      world.apiFaults.push(trouble.fault)
      return
    case 'kube fault':
      world.kubeFaults.push(trouble.fault)
  }
}

/** Plays each step and lets its time pass; then cancels pending faults. */
export async function liveThrough<Step extends { readonly thenMs: number }>(
  world: ModelWorld,
  story: readonly Step[],
  act: (world: ModelWorld, what: Step) => Promise<void>,
): Promise<void> {
  for (const next of story) {
    await act(world, next)
    await world.clock.advance(next.thenMs)
  }
  world.apiFaults.length = 0
  world.kubeFaults.length = 0
  world.duringPost = undefined
}
