import { test } from 'vitest'
import { oneOf, tryAll } from '../simulation/restore/trial.ts'
import { hurtSessionTurns, sessionTurns } from '../simulation/sessions/turns.ts'
import { some } from '../support/size.ts'

test('sessions are mirrored as the API lists them, and a command is executed once', async () => {
  await tryAll('sessions', some(sessionTurns, 12), 30)
})

test('kills and bad answers while sessions come and go or commands run: no request is sent twice', async () => {
  await tryAll('sessions during faults', some(oneOf(5, hurtSessionTurns), 60), 100)
})
