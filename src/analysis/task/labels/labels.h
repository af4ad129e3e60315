// Labels: what is to be found in each sample, read from COCO JSON, a directory of YOLO, DOTA or KITTI text files, of Pascal VOC's XML, of
// masks or of pictures, a list of boxes, faces, classes or texts or the names of the samples' folders. Labels own all that they hold.
#ifndef QTUI_ANALYSIS_TASK_LABELS_LABELS_H
#define QTUI_ANALYSIS_TASK_LABELS_LABELS_H

#include "../metric/coco.h"
#include "names.h"
#include "qtui/base/error.h"

enum labels_kind {
	LABELS_BOXES, LABELS_POSES, LABELS_OUTLINES, LABELS_ROTATED, LABELS_CLASSES, LABELS_MASKS, LABELS_PICTURES, LABELS_TEXTS,
	LABELS_VALUES,
	LABELS_KINDS,
};
struct label {
	bool known;               // false: the labels do not mention this sample
	int class;                // LABELS_CLASSES
	struct coco_truth *truth; // LABELS_BOXES, _POSES, _OUTLINES and _ROTATED, in pixels of the image
	double w, h;              // of the image as the labels say; 0: they do not
	int n;
	size_t cap;
	char *text;               // LABELS_TEXTS
	char *file;               // LABELS_MASKS: with the class of each pixel; LABELS_PICTURES: with its colour; LABELS_VALUES: with numbers
	float *value;             // LABELS_VALUES: the numbers, where neither `file` nor a stack has them
	int n_values;
};
struct labels {
	enum labels_kind kind;
	char *source;        // for people: "labels/ (YOLO)"
	struct label *label; // [n_samples]
	int n_samples, n_known;
	int n_classes; // numbered from 0: by rising category id
	int *id;       // [n_classes] category ids of the data set
	char **name;   // [n_classes] NULL where there is none
	bool *used;    // [n_classes] COCO JSON: has an object of the file this class, whatever image it is of? NULL: not known
	bool by_name;  // classes have no numbers: their names, of folders or in a list, say which class of the model is meant
	const char *how; // what decided which class of the model is meant: "by name", "numbered from 1"; NULL: nothing needs to be said
	bool numbered; // the numbers are ours, by the order of names: names alone say which class of a model is meant
	struct skeleton skeleton; // LABELS_POSES: what all objects have; LABELS_ROTATED: corners; else n 0
	char *stray;   // the first file that they name and that is no sample; NULL: none
	int *class_of; // LABELS_MASKS: [n_numbers] the class of a pixel's number, or LABELS_NO_CLASS; NULL: nothing says so
	int n_numbers;
	struct arrays *stack; // LABELS_VALUES: a row of it for each sample; NULL: each has its own
};
// The samples that labels are read for: files, NULL where a sample has none; w and h are the size of a sample that is
// no picture, for boxes given as fractions; points and dims are what the model's metadata say of an object's keypoints,
// for text files, whose lines do not tell keypoints from outlines (0: they say nothing).
struct labels_samples {
	const char *const *file;
	int n, w, h, points, dims;
	bool rotated;  // are outlines of four corners rotated boxes?
	bool texts;    // is a file of lines one of texts? Else it has classes
	bool values;   // are they numbers for each sample?
	bool outlines; // are the objects' masks wanted? Boxes alone are read in a fraction of the time
	enum labels_pictures {
		PICTURES_NONE,  // a directory of pictures is one of masks
		PICTURES_MAYBE, // where they are no masks, they are what the network should make
		PICTURES_SURE,  // they are what it should make, perhaps the samples themselves
	} pictures;
};
// `path`: a COCO JSON, a directory of YOLO, DOTA or KITTI text files, of Pascal VOC's XML, of masks or of pictures, a CSV; NULL: the names
// of the samples' folders.
MUST_CHECK enum status labels_read(
    struct labels **out, const char *path, const struct labels_samples *s, struct error *err);
void labels_free(struct labels **l);
// Labels of a kind that lie beside a data set: heap, NULL when there are none.
char *labels_find(const char *dataset, enum labels_kind kind, const struct labels_samples *s);
bool labels_are_folders(const struct labels_samples *s); // are there folders of several names?

// Classes that are names become the model's classes of these names, if it has any;
// a name that is none of them is STATUS_FORMAT. As many of other names are its classes in order.
MUST_CHECK enum status labels_number(struct labels *l, const struct names *names, struct error *err);
// Classes that are all synsets of ImageNet's become its 1000. Returns whether they are.
bool labels_number_synsets(struct labels *l);
// Gives the numbers of masks their classes, which are then the model's: of as many (0: not known), by name where both
// have names.
MUST_CHECK enum status labels_number_masks(struct labels *l, const struct names *names, int classes, struct error *err);
enum { LABELS_NO_CLASS = -1, LABELS_UNKNOWN = -2 };
int labels_class_of_number(const struct labels *l, int number); // or one of these two
// The numbers that are right of a sample, as an array of w x h in its last dimensions (0: it has fewer than two). The
// caller calls truth_done.
struct truth {
	float *at;
	int64_t n;
	int w, h;
};
MUST_CHECK enum status labels_truth(struct truth *out, const struct labels *l, int sample, struct error *err);
void truth_done(struct truth *t);
// Warns of boxes that cannot be of these images.
void labels_check(const struct labels *l, const struct labels_samples *s);

// Index of the label class for each of a model's `n` classes (names.n may be 0), -1 where the labels have no such
// class. Heap. n 0: as many as the labels have. *how says in words what decided.
int *labels_map(const struct labels *l, int *n, const struct names *names, const char **how);
int labels_class_of_id(const struct labels *l, int id); // -1 when there is none
bool labels_have_boxes(const struct labels *l); // perhaps with keypoints or outlines

// Which sample a file that labels name is: by its base name, with the ending or without (an id), and by its folders where
// several samples have that.
struct sample_index;
struct sample_index *sample_index_new(const struct labels_samples *s); // which must live on
void sample_index_free(struct sample_index **x);
int sample_index_find(const struct sample_index *x, const char *file); // -1: none, or several alike
// Likewise, where each sample is the file whose folders agree with its own the farthest of all that were asked for so far: -1 also
// where one before agrees farther. *better: those before were other files.
int sample_index_claim(struct sample_index *x, const char *file, bool *better);
bool sample_index_is_claim(const struct sample_index *x, int sample, const char *file); // is it the one that agrees farthest, or as far?
// Two labels of a sample contradict each other. Is it that two files agree as far? Then a later one may agree farther.
bool sample_index_tear(struct sample_index *x, int sample);
// STATUS_FORMAT: of a sample two files agree as far, whose boxes would be put together; or, `torn`, whose labels contradict each other.
MUST_CHECK enum status sample_index_check(const struct sample_index *x, const char *path, bool torn, struct error *err);

// For the readers, one a format.
enum { LABELS_CLASSES_MAX = 10000, LABELS_BOXES_MAX = 20000 }; // of a data set; in one image
int labels_sample(struct labels *l, struct sample_index *x, const char *file); // claims it, or notes a stray
int labels_add_class(struct labels *l, int id, const char *name);
bool labels_is_class(const char *text, int *class); // is it the number of one?
MUST_CHECK enum status labels_add_box(struct labels *l, int sample, const struct coco_truth *t, struct error *err); // takes t->point and t->mask
// An object has n keypoints: STATUS_FORMAT where others have another number.
MUST_CHECK enum status labels_set_points(struct labels *l, int n, struct error *err);
// Width and height of a sample: of its picture, else s->w and s->h.
MUST_CHECK enum status labels_frame(int *w, int *h, const struct labels_samples *s, int sample, struct error *err);
// An outline of `n` corners joins the object's mask, which is made where there is none; one of fewer than three corners
// is passed over.
MUST_CHECK enum status labels_add_outline(struct rle **mask, int w, int h, const double (*corner)[2], int n, struct error *err);
// Four corners become the object's keypoints, and its area that between them.
void labels_take_corners(struct coco_truth *t, const double corner[4][2]);
void labels_fill_corners(struct labels *l); // where some have corners; the others' are those of their boxes
void labels_fill_outlines(struct labels *l, const struct labels_samples *s); // objects without one have their boxes'
MUST_CHECK enum status labels_set_class(struct labels *l, int sample, int class, const char *path, struct error *err);
MUST_CHECK enum status labels_read_coco(
    struct labels *l, const char *path, const struct labels_samples *s, struct error *err);
// One object's; *mask stays NULL where there is nothing.
struct cJSON;
MUST_CHECK enum status labels_read_segmentation(struct rle **mask, const struct cJSON *segmentation, int w, int h, struct error *err);
// STATUS_USAGE or _FORMAT: it is a form of another tool, which is named, with what to make of it.
MUST_CHECK enum status labels_refuse_file(const char *path, const struct labels_samples *s, struct error *err);
enum status labels_refuse_json(const struct cJSON *root, const char *path, struct error *err); // never STATUS_OK, as the next
enum status labels_refuse_dir(const char *dir, const struct labels_samples *s, struct error *err);
MUST_CHECK enum status labels_read_yolo(
    struct labels *l, const char *dir, const struct labels_samples *s, struct error *err);
bool labels_are_masks(const char *dir, const struct labels_samples *s); // and no text files
MUST_CHECK enum status labels_read_masks(
    struct labels *l, const char *dir, const struct labels_samples *s, struct error *err);
bool labels_are_pictures(const char *dir, const struct labels_samples *s);
void labels_read_pictures(struct labels *l, const char *dir, const struct labels_samples *s);
// The file that goes with a sample `file`: in DIR, or in its folder that is called as the sample's, with the `ending` of the
// sample's name (its extension left out) replaced by `as`. Heap; NULL: there is none, or it is the sample itself.
char *labels_partner(const char *dir, const char *file, const char *ending, const char *as);
// DIR/NAME.txt for .../NAME.jpg, or DIR/FOLDER/NAME.txt where there is one, with up to four of the folders that the sample is in; heap.
char *labels_beside(const char *dir, const char *file, const char *ending);
int labels_lie_in(const char *dir, const struct labels_samples *s, const char *ending); // the first sample that has one, or -1
bool labels_are_text(const char *dir, const struct labels_samples *s);
// Of formats that have a file of objects for each sample, whose classes have names and no numbers: those of the names in order.
struct namemap;
struct named_file {
	struct labels *l;
	const struct labels_samples *s;
	struct namemap *classes; // names -> positions in l, as they came
	const char *path;
	int sample;
};
typedef enum status named_reader(const struct named_file *f, struct error *err);
// Reads DIR/NAME.ending of all samples that have one.
MUST_CHECK enum status labels_read_named(
    struct labels *l, const char *dir, const char *ending, const struct labels_samples *s, named_reader *read, struct error *err);
int labels_class_named(const struct named_file *f, const char *name); // -1: there are too many
void labels_sort_classes(struct labels *l); // they came as files had them; their order is that of their names
bool labels_are_named_lines(const char *dir, const struct labels_samples *s);
MUST_CHECK enum status labels_read_named_lines(struct labels *l, const char *dir, const struct labels_samples *s, struct error *err);
bool labels_are_voc(const char *dir, const struct labels_samples *s);
MUST_CHECK enum status labels_read_voc(struct labels *l, const char *dir, const struct labels_samples *s, struct error *err);
MUST_CHECK enum status labels_read_list(
    struct labels *l, const char *path, const struct labels_samples *s, struct error *err);
bool labels_are_list(const char *path, const struct labels_samples *s); // a CSV whose heading has a column of classes
bool labels_are_pairs(const char *path, const struct labels_samples *s); // its first line has the number of a class for a sample
bool labels_are_box_list(const char *path, const struct labels_samples *s); // a CSV with a line for each box
MUST_CHECK enum status labels_read_box_list(
    struct labels *l, const char *path, const struct labels_samples *s, struct error *err);
bool labels_are_lines_of_boxes(const char *path, const struct labels_samples *s); // of JSON, as Hugging Face has them
bool labels_are_lines_of_classes(const char *path, const struct labels_samples *s);
MUST_CHECK enum status labels_read_lines(
    struct labels *l, const char *path, const struct labels_samples *s, struct error *err);
bool labels_are_faces(const char *path); // WIDER FACE's text
MUST_CHECK enum status labels_read_faces(
    struct labels *l, const char *path, const struct labels_samples *s, struct error *err);
MUST_CHECK enum status labels_read_texts(
    struct labels *l, const char *path, const struct labels_samples *s, struct error *err);
MUST_CHECK enum status labels_read_values(
    struct labels *l, const char *path, const struct labels_samples *s, struct error *err);
MUST_CHECK enum status labels_read_folders(struct labels *l, const struct labels_samples *s, struct error *err);

#endif
