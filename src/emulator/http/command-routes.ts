import type { FastifyInstance } from 'fastify'
import { readUpdate } from '../fields/field.ts'
import { find } from '../objects/operations.ts'
import type { Services } from '../objects/write-context.ts'
import { NO_CONTENT } from '../openapi/operation.ts'
import { updateSchema } from '../openapi/schemas.ts'
import type { Command, Resource } from '../resources/resource.ts'
import { bodyOf } from './body.ts'
import { contextOf, idOf, route } from './route.ts'

/** Route of a command, such as `/tunnel_sessions/{id}/restart`: an empty JSON object, answered 204. */
export function commandRoute(app: FastifyInstance, resource: Resource, command: Command, services: Services): void {
  const { name, summary, run } = command
  route(app, `/${resource.path}/:id/${name}`, {
    POST: {
      summary,
      body: updateSchema({}),
      success: NO_CONTENT,
      refusals: [409],
      handler: (request, reply) => {
        const context = contextOf(request, services)
        const object = find(resource, idOf(request), context)
        // As in an update body, an id is the one field that is accepted and ignored.
        readUpdate({}, bodyOf(request))
        services.store.transaction(() => run(object, context))
        return reply.code(204).send()
      },
    },
  })
}
