// The key of a sample: equal keys, equal inputs. Files are hashed once, when first asked for.
#include "dataset.h"
#include "ids.h"
#include "image/image.h"
#include "qtui/base/file.h"

static struct key hash_file(const char *path)
{
	struct bytes b;
	struct error err;
	struct key k;
	if (file_map(&b, path, &err))
		return key_add_text((struct key){0}, err.text); // loading it will tell
	k = key_add_int(key_of_bytes(&b), image_orientation(&b));
	bytes_done(&b);
	return k;
}

// The stamp is taken first: what is written meanwhile counts as a change.
static struct mark mark_file(const char *path)
{
	struct file_stamp stamp = file_stamp(path);
	return (struct mark){hash_file(path), stamp};
}

static struct key file_hash(const struct dataset *d, size_t file)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&d->lock;
	struct key k;
	pthread_mutex_lock(lock);
	if (key_is_zero(d->mark[file].hash))
		d->mark[file] = mark_file(d->files.path[file]);
	k = d->mark[file].hash;
	pthread_mutex_unlock(lock);
	return k;
}

// A file that was only touched, or written again as it was, stays the same sample.
static bool is_changed(const struct dataset *d, size_t file)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&d->lock;
	struct mark *m = &d->mark[file], now;
	bool changed = false;
	pthread_mutex_lock(lock);
	if (!key_is_zero(m->hash) && !file_has_stamp(d->files.path[file], &m->stamp)) {
		now = mark_file(d->files.path[file]);
		changed = !key_equal(now.hash, m->hash);
		m->stamp = changed ? m->stamp : now.stamp;
	}
	pthread_mutex_unlock(lock);
	return changed;
}

enum status dataset_unchanged(const struct dataset *d, int i, struct error *err)
{
	size_t parts = (size_t)d->files.n_parts, file = d->sample[i].file * parts;
	for (size_t end = file + (d->opt.random ? 0 : parts); file < end; file++)
		if (is_changed(d, file))
			return error_set(err, STATUS_IO, "%s was written to since it was first read: start again to take it as it is now",
			    d->files.path[file]);
	return STATUS_OK;
}

static struct key add_preprocess(struct key k, const struct preprocess *p)
{
	k = key_add(k, p->mean, 3 * sizeof p->mean[0]);
	k = key_add(k, p->std, 3 * sizeof p->std[0]);
	k = key_add_int(k, p->bgr);
	k = key_add_int(k, p->resize);
	return p->share > 0 ? key_add(k, &p->share, sizeof p->share) : k;
}

struct key dataset_key(const struct dataset *d, int i)
{
	const struct sample *s = &d->sample[i];
	size_t parts = (size_t)d->files.n_parts;
	struct key k = key_add_int((struct key){0}, s->row);
	k = key_add_int(k, d->opt.random ? (int64_t)d->opt.seed : 0);
	for (size_t p = 0; p < parts; p++)
		k = key_add_key(k, file_hash(d, s->file * parts + p));
	for (int n = 0; n < d->g->n_inputs; n++) {
		const struct shape *shape = &dataset_input(d, n)->shape;
		k = key_add_int(key_add_int(k, dataset_input(d, n)->type), shape->rank);
		k = key_add(k, shape->dim, (size_t)shape->rank * sizeof shape->dim[0]);
		int64_t rows = d->opt.random ? ids_rows(d->g, d->g->input[n]) : 0;
		k = rows ? key_add_int(k, rows) : k;
	}
	return d->opt.random ? k : add_preprocess(k, &d->opt.pre);
}
