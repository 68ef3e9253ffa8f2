import type { ApiFault } from './model-account-client.ts'
import type { KubeFault } from './model-kube-client.ts'
import type { ModelWorld } from './model-world.ts'

/** What can befall an operator in any story. */
export type Trouble =
  | { readonly type: 'crash'; readonly downMs: number }
  | { readonly type: 'api fault'; readonly fault: ApiFault }
  | { readonly type: 'kube fault'; readonly fault: KubeFault }

/** Has the trouble come to the operator: at once, or with its next call to the server that is at fault. */
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
