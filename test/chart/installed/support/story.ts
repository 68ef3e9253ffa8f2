import { beforeEach } from 'vitest'

/** In a file whose tests need each other: after one that failed the others fail at once, in place of waiting for what cannot come. */
export function stopAtFirstFailure(): void {
  beforeEach(({ task }) => {
    const failed = task.file.tasks.find(({ result }) => result?.state === 'fail')
    if (failed !== undefined) throw new Error(`this needs what failed before: ${failed.name}`)
  })
}
