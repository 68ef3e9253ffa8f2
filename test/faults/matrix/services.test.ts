import { test } from 'vitest'
import { playServices } from '../simulation/tunnels/services.ts'

test('a Service is reached after any fault of any write, is open to nobody whom its policies refuse, and nothing is left of it', {
  tags: 'nightly',
}, async () => {
  await playServices('services')
})
