import { DECIDED, withAlternative } from '../../../src/emulator/choices/choices.ts'
import type { Scene } from '../scene.ts'

/** What the service has chosen where a spec leaves it open. */
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
