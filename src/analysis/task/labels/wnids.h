// ImageNet's classes by the WordNet ids ("n01440764") that its folders are called.
#ifndef QTUI_ANALYSIS_TASK_LABELS_WNIDS_H
#define QTUI_ANALYSIS_TASK_LABELS_WNIDS_H

enum { IMAGENET_CLASSES = 1000 };
int wnid_class(const char *name); // its number, from 0; -1: none of the 1000 (NULL is none)

#endif
