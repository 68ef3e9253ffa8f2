import { DECIDED, withAlternative } from '../../../src/emulator/choices/choices.ts'
import type { Scene } from '../scene.ts'

/** Values that the service chooses if a spec leaves them open. */
export const chosen: Scene = {
  name: 'chosen',
  about: 'An edge of which the service chose the lowest TLS version.',
  world: { emulator: { choices: withAlternative(DECIDED, { name: 'min-version-default', value: '1.1' }) } },
  async play({ world }) {
    await world.apply('Edge', 'open', { protocol: 'TLS', tlsTermination: {} })
    await world.ready('Edge', 'open')
    return []
  },
}
