import { beforeEach } from 'vitest'

/** For a file whose tests depend on each other: after a failure the others fail at once, instead of waiting in vain. */
export function stopAtFirstFailure(): void {
  beforeEach(({ task }) => {
    const failed = task.file.tasks.find(({ result }) => result?.state === 'fail')
    if (failed !== undefined) throw new Error(`this needs what failed before: ${failed.name}`)
  })
}
