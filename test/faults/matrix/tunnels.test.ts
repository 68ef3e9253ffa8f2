import { test } from 'vitest'
import { playTunnels } from '../simulation/tunnels/stories.ts'

test('a Tunnel is whole after any fault of any write, its agents never lose the key that they use, and nothing is left of it', async () => {
  await playTunnels('tunnels')
})
